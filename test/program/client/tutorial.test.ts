/** The programs of the tutorial, in a real Express and a real Next.js: a question that is sent twice counts once. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { sharedByTests, whenOver } from '../../support/cleanup.js';
import { matched, runCommand, startCommand } from '../../support/cli/cli.js';
import { clientOf } from '../../support/cli/cli-client.js';
import { makeKey, placeWithProject, project } from '../../support/cli/cli-place.js';
import { samples } from '../../support/cli/samples.js';
import { NEXT_SERVER } from '../../support/client/next-server.js';
import { root } from '../../tidy/sources.js';

const page = samples().filter((one) => one.page === 'docs/tutorial.md');

/** A program of the page, whose first line names its file. */
function programOf(file: string): string {
  const [program, ...others] = page.filter(({ code }) => code.startsWith(`// ${file}\n`));
  expect([program === undefined, others]).toEqual([false, []]);
  return program?.code.replaceAll("projectId: 'my-docs'", `projectId: '${project}'`) ?? '';
}

const shared = sharedByTests(async () => {
  const place = await placeWithProject();
  const [recording, admin] = [await makeKey(place, 'recording'), await makeKey(place, 'admin')];
  const { url } = await place.serve();
  const { count } = clientOf({ url }, project, admin);
  const env = { CALLER_STATS_URL: url, RECORDING_KEY: recording, NEXT_TELEMETRY_DISABLED: '1', PORT: '0' };
  return { env, counts: async () => (await count()).body };
});

/** Starts a program in a folder with these files, in the project, so that its packages are found. Returns its address. */
async function startProgram(program: string, files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(root, 'dist', 'tutorial-'));
  whenOver(() => rm(folder, { recursive: true, force: true }));
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text);
  }
  const started = startCommand(process.execPath, [program], { cwd: folder, env: shared().env });
  const port = matched(await started.printed(/listens on \d+/), /listens on (\d+)/);
  return `http://127.0.0.1:${port}`;
}

/** Waits for the last question, which is not from the site: then the two before it, with one id, are counted, once. */
async function expectOneMore(before: { readonly web: number; readonly other: number }): Promise<void> {
  const { counts } = shared();
  await expect.poll(async () => (await counts()).other).toBe(before.other + 1);
  expect((await counts()).web).toBe(before.web + 1);
}

test('Express', async () => {
  const before = await shared().counts();
  const address = await startProgram('server.mjs', { 'server.mjs': programOf('server.mjs') });
  const ask = page.find(({ code }) => code.startsWith('curl http://127.0.0.1:3000'))?.code ?? '';
  const another = ask.replace('message-1', 'another').replace('-H "Origin: https://docs.example.com"', '');
  for (const command of [ask, ask, another]) {
    const asked = await runCommand('bash', ['-c', command.replace('http://127.0.0.1:3000', address)]);
    expect(asked.stdout).toBe('{"answer":"You asked: How do I install it?"}');
  }
  await expectOneMore(before);
});

test('Next.js, with packages in place of the model', async () => {
  const before = await shared().counts();
  const address = await startProgram('server.js', {
    'package.json': '{"type":"module","private":true}',
    'server.js': NEXT_SERVER,
    'app/api/chat/route.js': programOf('app/api/chat/route.js'),
    'node_modules/@ai-sdk/openai/package.json': '{"type":"module","exports":"./index.js"}',
    'node_modules/@ai-sdk/openai/index.js': 'export const openai = (model) => model;',
    'node_modules/ai/package.json': '{"type":"module","exports":"./index.js"}',
    'node_modules/ai/index.js': `
      export const convertToModelMessages = async (messages) => messages;
      export const streamText = ({ model, messages: { length: asked } }) => ({
        toUIMessageStreamResponse: () => Response.json({ model, asked }),
      });`,
  });
  const origin = 'https://docs.example.com';
  const asked = [
    ['message-2', { origin }],
    ['message-2', { origin }],
    ['another-2', {}],
  ] as const;
  for (const [id, headers] of asked) {
    const body = JSON.stringify({ messages: [{ id, role: 'user' }] });
    const answered = await fetch(`${address}/api/chat`, { method: 'POST', headers, body });
    expect(await answered.json()).toEqual({ model: 'gpt-5-mini', asked: 1 });
  }
  await expectOneMore(before);
});
