/**
 * The recipes for platforms that stop a function after its answer, in a process that ends right after its last answer; and the
 * requests of log shippers, with what the recipes set.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { sharedByTests, whenOver } from '../../support/cleanup.js';
import { runCommand } from '../../support/cli/cli.js';
import { clientOf } from '../../support/cli/cli-client.js';
import { makeKey, placeWithProject, project, recordedIn, succeed } from '../../support/cli/cli-place.js';
import { samples } from '../../support/cli/samples.js';
import { root } from '../../tidy/sources.js';

const shared = sharedByTests(async () => {
  const place = await placeWithProject();
  const [key, admin] = [await makeKey(place, 'recording'), await makeKey(place, 'admin')];
  const { url } = await place.serve();
  return { place, url, key, count: clientOf({ url }, project, admin).count };
});

/** The block of a page that contains a text. */
function blockWith(page: string, text: string): string {
  const [block, ...others] = samples().filter((one) => one.page === page && one.code.includes(text));
  expect([block === undefined, others]).toEqual([false, []]);
  return block?.code ?? '';
}

/** Calls the recipe like its platform: with the body and the headers of a request. Returns the text of the response. */
const platforms = {
  lambda: {
    import: "from 'hono/aws-lambda'",
    before: '',
    call: `async (headers, body) => {
      const http = { method: 'POST', path: '/ask', sourceIp: '127.0.0.1' };
      const event = { version: '2.0', rawPath: '/ask', rawQueryString: '', headers, body, isBase64Encoded: false,
        requestContext: { http, domainName: 'docs.test', stage: '$default' } };
      return (await recipe.handler(event, {})).body;
    }`,
  },
  vercel: {
    import: "from '@vercel/functions'",
    before: '',
    call: `async (headers, body) => {
      const response = await recipe.POST(new Request('https://docs.test/ask', { method: 'POST', headers, body }));
      const text = await response.text();
      await Promise.all(globalThis.waiting.splice(0));
      return text;
    }`,
  },
  cloudflare: {
    import: "from 'cloudflare:workers'",
    before: "Object.defineProperty(globalThis, 'navigator', { value: { userAgent: 'Cloudflare-Workers' } });",
    call: `async (headers, body) => {
      const waiting = [];
      const context = { waitUntil: (promise) => void waiting.push(promise) };
      const request = new Request('https://docs.test/ask', { method: 'POST', headers, body });
      const response = await recipe.default.fetch(request, {}, context);
      const text = await response.text();
      await Promise.all(waiting);
      return text;
    }`,
  },
} as const;

test.each(Object.entries(platforms))('%s', async (name, { import: mark, before, call }) => {
  const { url, key, count } = shared();
  // In the project's folder, so that its packages are found.
  const folder = await mkdtemp(join(root, 'dist', `${name}-`));
  whenOver(() => rm(folder, { recursive: true, force: true }));
  const recipe = blockWith('docs/guides/record/recipes-serverless.md', mark)
    .replace("import { env } from 'cloudflare:workers';", 'const { env } = process;')
    .replace(
      "import { waitUntil } from '@vercel/functions';",
      'const waitUntil = (promise) => void (globalThis.waiting ??= []).push(promise);',
    )
    .replaceAll("projectId: 'my-docs'", `projectId: '${project}'`);
  await writeFile(join(folder, 'recipe.mjs'), recipe);
  await writeFile(
    join(folder, 'platform.mjs'),
    `${before}
     const recipe = await import('./recipe.mjs');
     const call = ${call};
     const headers = { 'content-type': 'application/json', origin: 'https://docs.example.com' };
     for (const id of ['first', 'second', 'second', 'last']) {
       const text = await call(headers, JSON.stringify({ id: '${name} ' + id, question: 'Why?' }));
       if (text !== '{"answer":"You asked: Why?"}') throw new Error(text);
     }
     process.exit();`,
  );
  const { web } = (await count()).body;
  const env = { CALLER_STATS_URL: url, RECORDING_KEY: key };
  const outcome = await succeed(runCommand(process.execPath, ['platform.mjs'], { cwd: folder, env }));
  expect(outcome.stderr).toBe('');
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
