/** The reader's types match the OpenAPI document. `vitest -u` with this file regenerates them. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCommand } from '../support/cli/cli.js';
import { startService } from '../support/http/http.js';
import { entriesOf } from '../support/http/openapi.js';
import { temporaryFolder } from '../support/temporary.js';
import { root } from '../tidy/sources.js';

const generator = join(root, 'client/node_modules/openapi-typescript/bin/cli.js');

const head =
  '/** Made of the OpenAPI document of the service by openapi-typescript: what each operation takes and answers. */\n';

test('response types are generated from the OpenAPI document', async () => {
  const { openApi } = await startService();
  const { paths, ...document } = openApi.document as { paths: object };
  const reads = Object.fromEntries(entriesOf(paths).filter(([path]) => path.includes('/assistant/c')));
  const folder = await temporaryFolder();
  await mkdir(join(folder, 'out'));
  const [source, target] = [join(folder, 'openapi.json'), join(folder, 'out', 'api.ts')];
  await writeFile(source, JSON.stringify({ ...document, paths: reads }));
  const made = await runCommand(process.execPath, [generator, source, '--output', target, '--immutable']);
  expect(made).toMatchObject({ status: 0 });
  const types = (await readFile(target, 'utf8')).replace(/^\/\*\*.*?\*\/\n+/s, '');
  await expect(head + types).toMatchFileSnapshot('../../client/src/api.ts');
});
