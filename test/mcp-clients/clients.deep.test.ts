/** `POST /mcp` with MCP clients that others wrote: the official inspector, LangChain and the OpenAI Agents SDK. */
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { sharedByTests } from '../support/cleanup.js';
import { runCommand } from '../support/cli/cli.js';
import { makeKey, placeWithSample, project, succeed } from '../support/cli/cli-place.js';
import { installPackages, installTimeoutMs } from '../support/install-packages.js';
import { root } from '../tidy/sources.js';

const folder = join(root, 'test/mcp-clients');

beforeAll(() => installPackages(folder), installTimeoutMs);

const tools = ['list_projects', 'get_caller_stats', 'get_caller_stats_series', 'get_callers', 'get_changes'];
const given = { projectId: project, dateFrom: '2024-01-01', dateTo: '2025-01-01', timeZone: 'Europe/Berlin' };

const running = sharedByTests(async () => {
  const place = await placeWithSample();
  const key = await makeKey(place, 'reading');
  const server = await place.serve();
  return { key, origin: server.url, url: `${server.url}/mcp` };
});

/** What the HTTP API answers to the same question. */
async function expectedCounts(): Promise<object> {
  const { origin, key } = running();
  const { projectId, ...query } = given;
  const response = await fetch(
    `${origin}/v1/analytics/${projectId}/assistant/caller-stats?${new URLSearchParams(query)}`,
    { headers: { authorization: `Bearer ${key}` } },
  );
  expect(response.status).toBe(200);
  return (await response.json()) as object;
}

test.each(['langchain.mjs', 'openai-agents.mjs'])('%s', async (file) => {
  const { url, key } = running();
  const args = [join(folder, file), url, key, JSON.stringify(given)];
  const { stdout } = await succeed(runCommand(process.execPath, args));
  const [names, answer] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
  expect(names).toEqual(tools);
  const counts = await expectedCounts();
  expect(answer).toEqual(
    file === 'langchain.mjs'
      ? { about: expect.stringContaining('Europe/Berlin'), ...counts }
      : expect.stringContaining(`\n${Object.keys(counts).join()}\n${Object.values(counts).join()}`),
  );
});

/** The inspector needs a newer Node than the product does. */
const inspector = [
  ...['exec', '--yes', '--package=node@22', '--', 'node'],
  join(folder, 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js'),
  '--cli',
];

async function inspect(...args: string[]): Promise<unknown> {
  const { url, key } = running();
  const all = [...inspector, url, '--transport', 'http', '--header', `Authorization: Bearer ${key}`, ...args];
  const env = { HOME: process.env['HOME'] ?? '' };
  const { stdout } = await succeed(runCommand('npm', all, { env, hangMs: installTimeoutMs }));
  return JSON.parse(stdout);
}

test('the official inspector', { timeout: installTimeoutMs }, async () => {
  const listed = (await inspect('--method', 'tools/list')) as { tools: { name: string }[] };
  expect(listed.tools.map(({ name }) => name)).toEqual(tools);
  const pairs = Object.entries(given).flatMap(([name, value]) => ['--tool-arg', `${name}=${value}`]);
  expect(await inspect('--method', 'tools/call', '--tool-name', 'get_caller_stats', ...pairs)).toMatchObject({
    structuredContent: { about: expect.stringContaining('Europe/Berlin'), ...(await expectedCounts()) },
  });
});
