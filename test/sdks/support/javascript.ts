/** The recipe for Express, run with the packages that `package-lock.json` locks. */
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { whenOver } from '../../support/cleanup.js';
import { matched, runCommand, startCommand } from '../../support/cli/cli.js';
import { succeed } from '../../support/cli/cli-place.js';
import { variablesIn } from '../../support/cli/samples.js';
import { installPackages } from '../../support/install-packages.js';
import { read } from '../../tidy/sources.js';
import { sdksFolder } from './folder.js';
import { recipe } from './recipe.js';
import type { Env, Service } from './service.js';

const { path: page, text } = read('docs/guides/record/recipes-sdks.md');
const sources = join(sdksFolder, 'javascript');

/** The recipe with an assistant of `javascript`, or with its own. */
export function javaScriptService(
  sdk: string,
  file: string | undefined,
  setup = '',
  more: Partial<Service> = {},
): Service {
  const prepare = async (env: Env) => {
    await installPackages(sdksFolder);
    // In the folder of the SDKs, so that they are found.
    const folder = await mkdtemp(join(sdksFolder, 'node_modules', 'assistant-'));
    whenOver(() => rm(folder, { recursive: true, force: true }));
    for (const name of ['telemetry.mjs', 'app.mjs']) await writeFile(join(folder, name), recipe(page, name));
    await cp(join(sources, 'scenarios.mjs'), join(folder, 'scenarios.mjs'));
    const assistant = join(folder, 'assistant.mjs');
    if (file === undefined) await writeFile(assistant, recipe(page, 'assistant.mjs'));
    else await cp(join(sources, file), assistant);
    const own = { OTEL_RESOURCE_ATTRIBUTES: '', OPENAI_AGENTS_DISABLE_TRACING: '0', SETUP: setup, PORT: '0' };
    return { cwd: folder, hangMs: 300_000, env: { ...variablesIn(text), ...own, ...env } };
  };
  return {
    language: 'JavaScript',
    framework: 'Express',
    sdk,
    start: async (env) => {
      const server = startCommand(process.execPath, ['app.mjs'], await prepare(env));
      const address = /listens on (http:\S+)/;
      return { url: matched(await server.printed(address), address), processes: [server] };
    },
    evaluate: async (env) => {
      const code = `
        const { telemetry } = await import('./telemetry.mjs');
        const { answer } = await import('./assistant.mjs');
        for await (const _ of answer('ask: evaluation'));
        await telemetry.shutdown();
        process.exit();`;
      await succeed(runCommand(process.execPath, ['--eval', code], await prepare(env)));
    },
    ...more,
  };
}
