/** The recipes for plain HTTP run as documented, those whose language is on this machine. The others are skipped by name. */
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sharedByTests, whenOver } from '../../support/cleanup.js';
import { runCommand } from '../../support/cli/cli.js';
import { makeKey, placeWithProject, project, recordedIn } from '../../support/cli/cli-place.js';
import { samples } from '../../support/cli/samples.js';
import { type Mishap, startFront } from '../../support/client/client-front.js';
import { temporaryFolder } from '../../support/temporary.js';
import { isDeep } from '../../support/volume.js';

interface Recipe {
  readonly language: string;
  readonly file: string;
  /** The command that runs the file, after `args`. */
  readonly command: string;
}

const recipes: readonly Recipe[] = [
  { language: 'ruby', file: 'record.rb', command: 'ruby' },
  { language: 'php', file: 'record.php', command: 'php' },
];

/** Answers that are not a success and after which a program must not go on. */
const refusals = [
  { status: 200, headers: {}, body: '<h1>Sign in</h1>', expected: 'answered 200: <h1>Sign in</h1>' },
  { status: 307, headers: { location: '/elsewhere' }, body: '', expected: /answered 307: .*\/elsewhere/ },
  { status: 503, headers: { 'retry-after': '3600' }, body: 'Busy', expected: 'answered 503: Busy' },
  {
    status: 429,
    headers: { 'retry-after': new Date(Date.now() + 3_600_000).toUTCString() },
    body: '',
    expected: 'answered 429',
  },
] as const;

const shared = sharedByTests(async () => {
  const place = await placeWithProject();
  return { place, server: await place.serve(), key: await makeKey(place, 'recording') };
});

/** Writes a recipe to a file, and returns a function that runs it. */
async function recipeOf({ language, file, command }: Recipe) {
  const [sample, ...others] = samples().filter(
    (one) => one.page === 'docs/guides/record/recipes.md' && one.language === language,
  );
  expect([sample === undefined, others]).toEqual([false, []]);
  const folder = await temporaryFolder();
  await writeFile(join(folder, file), sample?.code ?? '');
  return (url: string, key: string, id: string) =>
    runCommand(command, [file, id, 'my-bot'], {
      cwd: folder,
      env: {
        CALLER_STATS_URL: url,
        CALLER_STATS_PROJECT: project,
        CALLER_STATS_RECORDING_KEY: key,
        // Version managers keep files there.
        HOME: process.env['HOME'] ?? folder,
      },
    });
}

/** Why a recipe does not run; undefined if it does. */
async function reasonToSkip({ command }: Recipe): Promise<string | undefined> {
  const { status } = await runCommand('sh', ['-c', `command -v ${command}`]);
  return status === 0 ? undefined : `${command} is not on this machine`;
}

test.for(recipes)('$language', async (recipe, context) => {
  const reason = await reasonToSkip(recipe);
  if (reason !== undefined) {
    process.stdout.write(`The recipe for ${recipe.language} was not run: ${reason}.\n`);
    context.skip(reason);
  }
  const { place, server, key } = shared();
  const run = await recipeOf(recipe);
  const before = recordedIn(place);

  expect(await run(server.url, '', recipe.language)).toMatchObject({
    status: 1,
    stderr: 'Set the variable CALLER_STATS_RECORDING_KEY.\n',
  });
  let requests = 0;
  const other = createServer((_, response) => {
    const { status, headers, body } = refusals[requests++] ?? refusals[0];
    response.writeHead(status, headers).end(body);
  });
  await once(other.listen(0, '127.0.0.1'), 'listening');
  whenOver(() => void other.close());
  for (const { status, expected } of refusals) {
    const { port } = other.address() as AddressInfo;
    const failed = await run(`http://127.0.0.1:${port}`, key, recipe.language);
    expect(failed, `${status}`).toMatchObject({ status: 1, stdout: '' });
    expect(failed.stderr).toMatch(expected);
  }
  expect(requests).toBe(refusals.length);
  const refused = await run(server.url, 'no-key', recipe.language);
  expect(refused).toMatchObject({ status: 1, stdout: '' });
  expect(refused.stderr).toContain('"error"');
  expect(recordedIn(place)).toBe(before);

  // The response of a request is lost; in the deep run, the one before is answered with 503. Each costs a second or two.
  const mishaps: readonly Mishap[] = isDeep ? ['busy', 'lost'] : ['lost'];
  const front = await startFront({
    target: () => server.url,
    mishapOf: (number) => mishaps[number] ?? 'pass',
  });
  const repeated = await run(front.url, key, recipe.language);
  expect(repeated).toMatchObject({ status: 0, stdout: '{"recorded":0,"duplicates":1}\n', stderr: '' });
  expect(recordedIn(place)).toBe(before + 1);
});
