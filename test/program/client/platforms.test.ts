/**
 * The recipes for platforms that stop a function after its answer, in a process that ends right after its last answer; and the
 * requests of log shippers, with what the recipes set.
 */
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { sharedByTests } from '../../support/cleanup.js';
import { clientOf } from '../../support/cli/cli-client.js';
import { makeKey, placeWithProject, project, recordedIn } from '../../support/cli/cli-place.js';
import { askPlatform, blockWith } from '../../support/client/platforms.js';

const shared = sharedByTests(async () => {
  const place = await placeWithProject();
  const [key, admin] = [await makeKey(place, 'recording'), await makeKey(place, 'admin')];
  const { url } = await place.serve();
  return { place, url, key, count: clientOf({ url }, project, admin).count };
});

test.each(['lambda', 'vercel', 'cloudflare'] as const)('%s', async (name) => {
  const { url, key, count } = shared();
  const { web } = (await count()).body;
  await askPlatform(name, { url, key, project });
  expect((await count()).body.web).toBe(web + 3);
});

/** Sends what a log shipper sends for a file of three lines. Returns the answers. */
async function ship(
  path: string,
  headers: Record<string, string>,
  encode: (lines: string) => NonNullable<RequestInit['body']>,
) {
  const { url, place } = shared();
  const before = recordedIn(place);
  const sample = blockWith('docs/guides/record/recipes-logs.md', '{"id":"message-1"');
  const line = JSON.parse(sample) as Record<string, string>;
  const lines = [1, 2, 3].map((id) => JSON.stringify({ ...line, id: `${headers['user-agent']} ${id}` }));
  const init = { method: 'POST', headers, body: encode(`${lines.join('\n')}\n`) };
  const answers: unknown[] = [];
  // They repeat a request whose answer was lost.
  for (let times = 0; times < 2; times++) answers.push(await (await fetch(url + path, init)).json());
  expect(recordedIn(place)).toBe(before + 3);
  return answers;
}

const answers = [
  { recorded: 3, duplicates: 0 },
  { recorded: 0, duplicates: 3 },
];
const keyVariable = `\${RECORDING_KEY}`;
const queriesPath = `/v1/analytics/${project}/assistant/queries`;

test('Fluent Bit', async () => {
  const { pipeline } = parse(blockWith('docs/guides/record/recipes-logs.md', 'json_lines')) as {
    pipeline: { outputs: { header: string[]; uri: string; format: string; json_date_key: unknown }[] };
  };
  const [output] = pipeline.outputs;
  // With another date key, each line has a field more.
  expect(output).toMatchObject({ format: 'json_lines', json_date_key: false });
  const [, name = '', value = ''] = /^(\S+) (.*)$/.exec(output?.header[0] ?? '') ?? [];
  // Its output `http` sends the lines as they are, with this type.
  const headers = {
    'content-type': 'application/x-ndjson',
    'user-agent': 'Fluent-Bit',
    [name]: value.replace(keyVariable, shared().key),
  };
  const path = output?.uri.replace('my-docs', project) ?? '';
  expect(path).toBe(queriesPath);
  expect(await ship(path, headers, (lines) => lines)).toEqual(answers);
});

test('Vector', async () => {
  const { sinks } = parse(blockWith('docs/guides/record/recipes-logs.md', 'newline_delimited')) as {
    sinks: Record<string, { uri: string; compression: string; auth: { strategy: string; token: string } }>;
  };
  const sink = sinks['caller-stats'];
  expect(sink).toMatchObject({
    compression: 'gzip',
    auth: { strategy: 'bearer', token: keyVariable },
  });
  const path = new URL(sink?.uri ?? '').pathname.replace('my-docs', project);
  expect(path).toBe(queriesPath);
  // The codec json with this framing.
  const headers = {
    'content-type': 'application/x-ndjson',
    'content-encoding': 'gzip',
    'user-agent': 'Vector/0.40.0',
    authorization: `Bearer ${shared().key}`,
  };
  expect(await ship(path, headers, (lines) => gzipSync(lines))).toEqual(answers);
});
