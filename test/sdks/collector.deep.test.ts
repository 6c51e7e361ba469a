/** A real Collector, built from Go modules, with the processor of the docs, in front of a real server. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as zlib from 'node:zlib';
import { expect, test } from 'vitest';
import { sharedByTests } from '../support/cleanup.js';
import { matched, startCommand } from '../support/cli/cli.js';
import {
  makeKey,
  type Place,
  placeWithProject,
  project,
  recordedIn,
  succeed,
} from '../support/cli/cli-place.js';
import { kill, type Running } from '../support/cli/process.js';
import { samples } from '../support/cli/samples.js';
import { freePort } from '../support/free-port.js';
import { installTimeoutMs } from '../support/install-packages.js';
import { temporaryFolder } from '../support/temporary.js';
import { run } from './support/commands.js';
import { sdksFolder } from './support/folder.js';

/** Compiling it takes minutes, unless Go has it in its cache. */
const built = sharedByTests(async () => {
  const program = join(await temporaryFolder(), 'collector');
  await run('go', ['build', '-o', program, '.'], join(sdksFolder, 'collector'));
  return program;
}, installTimeoutMs);

/** The processor of the docs. */
const processors = matched(
  samples().find(({ name }) => name === 'docs/guides/record/opentelemetry.md: processors:')?.code ?? '',
  /^processors:\n([\s\S]*?)\nexporters:/,
);

interface Collector extends Running {
  readonly url: string;
}

async function startCollector(
  url: string,
  key: string,
  folder: string,
  compression = 'gzip',
): Promise<Collector> {
  const port = await freePort();
  const file = join(folder, 'collector.yaml');
  await mkdir(join(folder, 'waiting'), { recursive: true });
  await writeFile(
    file,
    `
extensions:
  file_storage: {directory: ${join(folder, 'waiting')}}
receivers:
  otlp: {protocols: {http: {endpoint: '127.0.0.1:${port}'}}}
processors:
${processors}
exporters:
  otlp_http/caller-stats:
    endpoint: ${url}
    compression: ${compression}
    headers: {authorization: 'Bearer ${key}'}
    retry_on_failure: {initial_interval: 100ms, max_interval: 100ms, max_elapsed_time: 0}
    sending_queue: {storage: file_storage}
service:
  extensions: [file_storage]
  telemetry: {metrics: {level: none}}
  pipelines:
    traces: {receivers: [otlp], processors: [transform/questions], exporters: [otlp_http/caller-stats]}
`,
  );
  const running = startCommand(built(), ['--config', file], { hangMs: 300_000 });
  await running.logged(/Everything is ready/);
  return { ...running, url: `http://127.0.0.1:${port}` };
}

const questions = 10;
const text = (key: string, stringValue: string) => ({ key, value: { stringValue } });

/** Requests to a route, in a batch. A prompt is among the attributes. */
async function send(url: string): Promise<void> {
  const startTimeUnixNano = `${Date.now()}000000`;
  const spans = Array.from({ length: questions }, (_, at) => ({
    traceId: String(at + 1).padStart(32, 'a'),
    spanId: String(at + 1).padStart(16, 'b'),
    name: 'POST /ask',
    kind: 2,
    startTimeUnixNano,
    endTimeUnixNano: startTimeUnixNano,
    attributes: [
      text('http.route', '/ask'),
      text('http.request.method', 'POST'),
      text('gen_ai.prompt', 'How do I install it?'),
    ],
  }));
  const resource = { attributes: [text('service.name', 'docs-assistant')] };
  const body = JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ spans }] }] });
  const headers = { 'content-type': 'application/json' };
  const { status } = await fetch(`${url}/v1/traces`, { method: 'POST', headers, body });
  expect(status).toBe(200);
}

/** The project counts the requests of a route, which the processor must not remove. */
async function placeWithRoute(): Promise<Place> {
  const place = await placeWithProject();
  await succeed(place.run(['project', 'change', project, '--otlp-query', 'http.route=/ask']));
  return place;
}

/** From Node 22.15 on. */
const zstd = ['zstd'].filter(() => 'createZstdDecompress' in zlib);

test.each(['snappy', 'lz4', ...(zstd.length === 0 ? ['zstd'] : [])])(
  '%s is refused, and the Collector prints what to set',
  async (compression) => {
    const place = await placeWithRoute();
    const { url } = await place.serve();
    const collector = await startCollector(url, await makeKey(place, 'recording'), place.folder, compression);
    await send(collector.url);
    expect(await collector.logged(/Dropping data/)).toMatch(/gzip.*deflate.*set compression: gzip/);
    expect(recordedIn(place)).toBe(0);
  },
);

test.each(['gzip', 'deflate', 'none', ...zstd])('%s: each request of a route counts', async (compression) => {
  const place = await placeWithRoute();
  const { url } = await place.serve();
  const collector = await startCollector(url, await makeKey(place, 'recording'), place.folder, compression);
  await send(collector.url);
  await expect.poll(() => recordedIn(place)).toBe(questions);
});

test('what waits for a server that is away survives kill -9 of the Collector', async () => {
  const place = await placeWithRoute();
  const port = await freePort();
  const [url, key] = [`http://127.0.0.1:${port}`, await makeKey(place, 'recording')];
  const killed = await startCollector(url, key, place.folder);
  await send(killed.url);
  await killed.logged(/Will retry the request/);
  kill(killed.pid, 'SIGKILL');
  await killed.ended;
  await startCollector(url, key, place.folder);
  await place.serve(['--port', String(port)]);
  await expect.poll(() => recordedIn(place)).toBe(questions);
});
