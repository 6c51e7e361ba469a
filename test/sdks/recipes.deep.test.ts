/** The recipes for AI SDKs run as documented, and count each question once, also if it is asked again. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { sharedByTests, whenOver } from '../support/cleanup.js';
import { runCommand, startCommand } from '../support/cli/cli.js';
import { clientOf } from '../support/cli/cli-client.js';
import { makeKey, placeWithProject, project } from '../support/cli/cli-place.js';
import { samples } from '../support/cli/samples.js';
import { installSdks, installTimeoutMs, sdksFolder } from './install.js';
import { startModelServer } from './support/model-server.js';

beforeAll(installSdks, installTimeoutMs);

const page = samples().filter((one) => one.page === 'docs/recipes-sdks.md');

const running = sharedByTests(async () => {
  const place = await placeWithProject();
  const [recording, admin] = [await makeKey(place, 'recording'), await makeKey(place, 'admin')];
  const { url } = await place.serve();
  // In the folder of the SDKs, so that they are found.
  const folder = await mkdtemp(join(sdksFolder, 'node_modules', 'recipes-'));
  whenOver(() => rm(folder, { recursive: true, force: true }));
  // The variables of the page, with the addresses of this test.
  const [sh] = page.filter(({ language }) => language === 'sh');
  const documented = [...(sh?.code ?? '').matchAll(/(\w+)=(\S+)/g)].map(([, name = '', value = '']) => [
    name,
    value.replace('https://stats.example.com', url).replace(/cs_recording_…/, recording),
  ]);
  const env = {
    ...(Object.fromEntries(documented) as Record<string, string>),
    OPENAI_API_KEY: 'none',
    OPENAI_BASE_URL: `${await startModelServer()}/v1`,
    OPENAI_AGENTS_DISABLE_TRACING: '0',
    PORT: '0',
  };
  const { count } = clientOf({ url }, project, admin);
  return { folder, env, count: async () => (await count()).body };
});

/** Writes the recipe to its file, which its first line names. */
async function writeRecipe(file: string): Promise<void> {
  const [recipe, ...others] = page.filter(({ code }) => code.startsWith(`// ${file}\n`));
  expect([recipe === undefined, others]).toEqual([false, []]);
  await writeFile(join(running().folder, file), recipe?.code ?? '');
}

test('chat.mjs', async () => {
  const { folder, env, count } = running();
  await writeRecipe('chat.mjs');
  const before = await count();
  const server = startCommand(process.execPath, ['chat.mjs'], { cwd: folder, env });
  const [, port] = /listens on (\d+)/.exec(await server.printed(/listens on \d+/)) ?? [];
  for (const id of ['message-1', 'message-1', 'message-2']) {
    const messages = [{ id, role: 'user', parts: [{ type: 'text', text: 'How do I install it?' }] }];
    const answer = await fetch(`http://127.0.0.1:${port}/api/chat`, {
      method: 'POST',
      body: JSON.stringify({ messages }),
    });
    expect(await answer.text()).toContain('install');
  }
  process.kill(server.pid, 'SIGTERM');
  await server.ended;
  expect(await count()).toEqual({ ...before, web: before.web + 2, total: before.total + 2 });
});

test.each(['langchain.mjs', 'agents.mjs'])('%s', async (file) => {
  const { folder, env, count } = running();
  await writeRecipe(file);
  const before = await count();
  for (const id of [`${file} 1`, `${file} 1`, `${file} 2`]) {
    const args = [file, id, 'How do I install it?'];
    const outcome = await runCommand(process.execPath, args, { cwd: folder, env });
    expect(outcome).toMatchObject({ status: 0, stdout: 'Run npm install.\n' });
  }
  expect(await count()).toEqual({ ...before, web: before.web + 2, total: before.total + 2 });
});
