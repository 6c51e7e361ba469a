/** Route handlers of a real Next.js, on Node and on its edge runtime, which offers only web APIs. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sharedByTests, whenOver } from '../../support/cleanup.js';
import { startCommand } from '../../support/cli/cli.js';
import { clientOf } from '../../support/cli/cli-client.js';
import { makeKey, placeWithProject, project } from '../../support/cli/cli-place.js';
import { NEXT_SERVER } from '../../support/client/next-server.js';
import { root } from '../../tidy/sources.js';

/** The sample of the documentation. It responds with 400 if the body contains no question. */
const route = (runtime: string) => `
import { createRecorder } from 'caller-stats-client';
import { recordQuestions } from 'caller-stats-client/next';
import { after } from 'next/server';

export const runtime = '${runtime}';

const recorder = createRecorder({
  url: process.env.CALLER_STATS_URL,
  projectId: '${project}',
  key: process.env.CALLER_STATS_RECORDING_KEY,
});

async function answer(request) {
  const question = await request.text();
  return question === '' ? new Response('No question.', { status: 400 }) : Response.json({ answer: 'Because.' });
}

const rules = { siteOrigins: ['https://docs.example.com'], apiHeaders: ['x-api-key'] };
export const POST = recordQuestions(answer, { recorder, rules, after });
`;

const running = sharedByTests(async () => {
  const place = await placeWithProject();
  const [recording, admin] = [await makeKey(place, 'recording'), await makeKey(place, 'admin')];
  const { url } = await place.serve();
  // In the project's folder, so that its packages are found.
  const folder = await mkdtemp(join(root, 'dist', 'next-'));
  whenOver(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'package.json'), '{"type":"module","private":true}');
  await writeFile(join(folder, 'server.js'), NEXT_SERVER);
  for (const runtime of ['nodejs', 'edge']) {
    await mkdir(join(folder, 'app', runtime), { recursive: true });
    await writeFile(join(folder, 'app', runtime, 'route.js'), route(runtime));
  }
  const env = { CALLER_STATS_URL: url, CALLER_STATS_RECORDING_KEY: recording, NEXT_TELEMETRY_DISABLED: '1' };
  const started = startCommand(process.execPath, ['server.js'], { cwd: folder, env });
  const [, port] = /listens on (\d+)/.exec(await started.printed(/listens on \d+/)) ?? [];
  const { count } = clientOf({ url }, project, admin);
  return { address: `http://127.0.0.1:${port}`, counts: async () => (await count()).body };
});

test.each(['nodejs', 'edge'])('each answered question is counted once: %s', async (runtime) => {
  const { address, counts } = running();
  const before = await counts();
  const ask = async (question: string, headers: Record<string, string> = {}) =>
    (await fetch(`${address}/${runtime}`, { method: 'POST', headers, body: question })).status;
  expect(await ask('Why?', { origin: 'https://docs.example.com' })).toBe(200);
  expect(await ask('And why?', { origin: 'https://docs.example.com' })).toBe(200);
  expect(await ask('Why?', { 'x-api-key': 'key' })).toBe(200);
  expect(await ask('Why?', { 'user-agent': 'Slackbot 1.0' })).toBe(200);
  expect(await ask('')).toBe(400);
  const expected = {
    web: before.web + 2,
    api: before.api + 1,
    other: before.other + 1,
    total: before.total + 4,
  };
  await expect.poll(counts, { timeout: 30_000 }).toEqual(expected);
});
