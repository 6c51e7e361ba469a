/** `serve --workers`: several processes that work as one server. */
import { expect, test } from 'vitest';
import { firstRunOf, kill, matched, runCli, type Server } from '../../support/cli/cli.js';
import { batchOf, clientOf } from '../../support/cli/cli-client.js';
import {
  emptyPlace,
  makeKey,
  placeWithProject,
  project,
  refusal,
  succeed,
} from '../../support/cli/cli-place.js';
import { type Exposition, readMetrics, sumOf } from '../../support/http/metrics.js';

const workers = ['--workers', '2'];
const batchSize = 20;
const eachAlone = { headers: { connection: 'close' }, timeoutMs: 15_000 };

/** The processes that have logged that they listen. */
function listening(stderr: string): number[] {
  return logged(stderr, 'listening').map(({ pid }) => pid);
}

function logged(stderr: string, message: string): { readonly pid: number }[] {
  return stderr
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as { readonly pid: number; readonly msg: string })
    .filter(({ msg }) => msg === message);
}

/** Records each batch over a new connection, so that the workers take turns. A worker that dies does not respond. */
function recorderOf(server: Server, key: string) {
  const client = clientOf(server, project, key, eachAlone);
  return (numbers: readonly number[]) =>
    Promise.all(numbers.map((number) => client.record(batchOf(number, batchSize)).catch(() => undefined)));
}

test.each(['0', '65', 'two', '1.5'])('--workers %s is refused', async (count) => {
  expect(await runCli(['serve', '--workers', count])).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('--workers'),
  });
});

test.each(['--port', '--metrics'])('a used %s is reported once, and no process is left', async (flag) => {
  const place = await placeWithProject();
  const { port } = new URL((await place.serve()).url);
  // The last flag wins.
  const stderr = await refusal(place.spawn(['serve', '--port', '0', flag, port, ...workers]), 1);
  expect(stderr.match(/is in use by another program/g)).toHaveLength(1);
});

test('metrics include all processes, and a replacement after one was killed', async () => {
  const place = await placeWithProject();
  const key = await makeKey(place, 'admin');
  const server = await place.spawnServer([...workers, '--metrics', '0']);
  const page = matched(server.stdout, /^Metrics for Prometheus: (http:\S+)$/m);
  const look = async () => readMetrics(await (await fetch(page)).text());
  const startOf = (metrics: Exposition, worker: string) =>
    sumOf(metrics, 'process_start_time_seconds', { worker });
  const [first, second] = listening(await server.logged(/"listening"[\s\S]*"listening"/));
  await recorderOf(server, key)([1, 1, 2, 3]);
  const before = await look();
  expect(new Set(before.samples.map(({ labels }) => labels['worker']))).toEqual(new Set(['0', '1', '2']));
  expect(sumOf(before, 'caller_stats_queries_total', { outcome: 'recorded' })).toBe(3 * batchSize);
  expect(sumOf(before, 'caller_stats_queries_total', { outcome: 'duplicate' })).toBe(batchSize);
  expect(sumOf(before, 'caller_stats_build_info')).toBe(3);
  expect(before.types.get('caller_stats_http_request_duration_seconds')).toBe('histogram');
  for (const worker of ['1', '2'])
    expect(sumOf(before, 'caller_stats_http_requests_total', { worker, status: '200' })).toBeGreaterThan(0);

  kill(second ?? 0, 'SIGSTOP');
  const without = await look();
  expect(new Set(without.samples.map(({ labels }) => labels['worker'])).size).toBe(2);
  kill(second ?? 0, 'SIGCONT');

  kill(first ?? 0, 'SIGKILL');
  const [, , third] = listening(await server.logged(/(?:"listening"[\s\S]*){3}/));
  expect(third).not.toBe(second);
  const after = await look();
  expect(new Set(after.samples.map(({ labels }) => labels['worker']))).toEqual(new Set(['0', '1', '2']));
  expect(startOf(after, '1')).not.toBe(startOf(before, '1'));
  expect(startOf(after, '2')).toBe(startOf(before, '2'));
  expect(await server.stop()).toMatchObject({ status: 0 });
});

test('the first start creates one project; queries sent through all processes count once, and immediately in each', async () => {
  const place = await emptyPlace();
  const server = await place.spawnServer([...workers, '--log-level', 'debug']);
  const { project: id, admin } = firstRunOf(server);
  const client = clientOf(server, id, admin, eachAlone);
  for (let ask = 0; ask < 4; ask++)
    expect(await client.count()).toMatchObject({ status: 200, body: { total: 0 } });
  for (let round = 0; round < 5; round++) {
    const numbers = Array.from({ length: 8 }, (_, at) => round * 4 + (at % 4));
    const answers = await Promise.all(numbers.map((number) => client.record(batchOf(number, batchSize))));
    expect(answers.reduce((sum, { body }) => sum + body.recorded, 0)).toBe(4 * batchSize);
    for (let ask = 0; ask < 4; ask++)
      expect((await client.count()).body.total).toBe((round + 1) * 4 * batchSize);
  }
  const { status, stdout, stderr } = await server.stop();
  expect(status).toBe(0);
  expect(stdout.match(/caller-stats listens on/g)).toHaveLength(1);
  expect(new Set(listening(stderr)).size).toBe(2);
  expect(logged(stderr, 'stopped')).toHaveLength(3);
  const answering = new Set(logged(stderr, 'request completed').map(({ pid }) => pid));
  expect(answering).toEqual(new Set(listening(stderr)));
  await succeed(place.run(['verify']));
});

test('a killed process is replaced, and acknowledged queries stay', async () => {
  const place = await placeWithProject();
  const key = await makeKey(place, 'admin');
  const server = await place.spawnServer(workers);
  const [victim] = listening(await server.logged(/"listening"[\s\S]*"listening"/));
  const numbers = Array.from({ length: 40 }, (_, at) => at);
  const recordAll = recorderOf(server, key);
  const [before, ...others] = numbers;
  await recordAll([before ?? 0]);
  const sent = recordAll(others);
  kill(victim ?? 0, 'SIGKILL');
  const answers = await sent;
  const acknowledged = 1 + answers.filter((answer) => answer?.status === 200).length;
  await server.logged(/(?:"listening"[\s\S]*){3}/);
  const { body } = await clientOf(server, project, key).count();
  expect(body.total).toBeGreaterThanOrEqual(acknowledged * batchSize);
  await recordAll(numbers);
  expect((await clientOf(server, project, key).count()).body.total).toBe(numbers.length * batchSize);
  const { status, stderr } = await server.stop();
  expect(status).toBe(0);
  expect(logged(stderr, 'a worker ended; another is started')).toHaveLength(1);
  await succeed(place.run(['verify']));
});

test('a signal sent to all processes, as by a terminal or systemd, stops them without losing queries', async () => {
  const place = await placeWithProject();
  const key = await makeKey(place, 'admin');
  const server = await place.spawnServer(workers);
  const all = listening(await server.logged(/"listening"[\s\S]*"listening"/));
  const recordAll = recorderOf(server, key);
  await recordAll([0]);
  const sent = recordAll(Array.from({ length: 20 }, (_, at) => at));
  for (const pid of [server.pid, ...all]) kill(pid, 'SIGTERM');
  const acknowledged = (await sent).filter((answer) => answer?.status === 200).length;
  const { status, stderr } = await server.ended;
  expect(status).toBe(0);
  expect(logged(stderr, 'stopped')).toHaveLength(3);
  expect(logged(stderr, 'a worker ended; another is started')).toEqual([]);
  const again = await place.serve();
  expect((await clientOf(again, project, key).count()).body.total).toBeGreaterThanOrEqual(
    acknowledged * batchSize,
  );
});
