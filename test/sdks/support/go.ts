/** The recipes for Go, built with the modules that `go/go.sum` locks. */
import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { matched, startCommand } from '../../support/cli/cli.js';
import { temporaryFolder } from '../../support/temporary.js';
import { root } from '../../tidy/sources.js';
import { run } from './commands.js';
import { sdksFolder } from './folder.js';
import { recipe } from './recipe.js';
import type { Service } from './service.js';

const page = 'docs/guides/record/recipes-go.md';
const sources = join(sdksFolder, 'go');

const SERVERS = { 'net/http': 'nethttp.go', gin: 'gin.go' } as const;

/** The recipe for this server, with the assistant in a folder of `go`, or with its own. */
export function goService(
  framework: keyof typeof SERVERS,
  sdk: string,
  folder: string | undefined,
  more: Partial<Service> = {},
): Service {
  return {
    language: 'Go',
    framework,
    sdk,
    start: async (env) => {
      const program = await temporaryFolder();
      for (const file of ['go.mod', 'go.sum']) await cp(join(sources, file), join(program, file));
      const assistant = 'assistant.go';
      if (folder !== undefined) await cp(join(sources, folder, assistant), join(program, assistant));
      for (const file of ['telemetry.go', SERVERS[framework], ...(folder === undefined ? [assistant] : [])])
        await writeFile(join(program, file), recipe(page, file));
      const client = `caller-stats.example/clients/go=${join(root, 'clients/go')}`;
      await run('go', ['mod', 'edit', `-replace=${client}`], program);
      await run('go', ['build', '-o', 'assistant', '.'], program);
      const server = startCommand(join(program, 'assistant'), [], { env: { ...env, PORT: '0' } });
      const address = /listens on (http:\S+)/;
      return { url: matched(await server.logged(address), address), processes: [server] };
    },
    ...more,
  };
}
