/** Servers that are stopped or killed: acknowledged queries are there afterwards. */
import { describe, expect, test } from 'vitest';
import { firstRunOf, kill, type ServerProcess, startCli } from '../../support/cli/cli.js';
import { batchOf, clientOf } from '../../support/cli/cli-client.js';
import { emptyPlace, makeKey, placeWithProject, project, succeed } from '../../support/cli/cli-place.js';
import { isDeep } from '../../support/volume.js';

const batchSize = 50;
const sendersAtOnce = 4;
const batchesBefore = 40;

interface Sent {
  /** Numbers of the acknowledged batches. */
  readonly acknowledged: number[];
  /** Statuses of the others that got a response. */
  readonly refused: number[];
}

/** Records batches from several senders until the server is gone. Calls `onBatches` after `batchesBefore` of them. */
async function recordUntilGone(server: ServerProcess, key: string, onBatches: () => void): Promise<Sent> {
  const client = clientOf(server, project, key);
  const sent: Sent = { acknowledged: [], refused: [] };
  let next = 0;
  const send = async (): Promise<void> => {
    for (;;) {
      const number = next++;
      const answer = await client.record(batchOf(number, batchSize)).catch(() => undefined);
      if (answer?.status !== 200) {
        if (answer !== undefined) sent.refused.push(answer.status);
        return;
      }
      expect(answer.body).toEqual({ recorded: batchSize, duplicates: 0 });
      sent.acknowledged.push(number);
      if (sent.acknowledged.length === batchesBefore) onBatches();
    }
  };
  await Promise.all(Array.from({ length: sendersAtOnce }, send));
  return sent;
}

/** The quick run sends SIGINT only at the start, below: it has the same handler as SIGTERM. */
const signals = ['SIGTERM', 'SIGKILL', ...(isDeep ? (['SIGINT'] as const) : [])] as const;

describe.each(signals)('%s while batches are recorded', (signal) => {
  test('loses no acknowledged batch and leaves none incomplete', async () => {
    const place = await placeWithProject();
    const key = await makeKey(place, 'admin');
    const server = await place.spawnServer();
    const { acknowledged, refused } = await recordUntilGone(server, key, () => kill(server.pid, signal));
    const ended = await server.ended;
    if (signal === 'SIGKILL') expect(ended).toMatchObject({ status: null, signal });
    else expect(ended).toMatchObject({ status: 0, signal: null });
    expect(acknowledged.length).toBeGreaterThanOrEqual(batchesBefore);
    expect(new Set([...refused, 503])).toEqual(new Set([503]));

    const again = await place.serve();
    const client = clientOf(again, project, key);
    const { body: counts } = await client.count();
    const batches = counts.total / batchSize;
    // Each sender may have one batch that is on disk without having been acknowledged.
    expect(Number.isInteger(batches)).toBe(true);
    expect(batches).toBeGreaterThanOrEqual(acknowledged.length);
    const cutOffMax = signal === 'SIGKILL' ? sendersAtOnce : 0;
    expect(batches).toBeLessThanOrEqual(acknowledged.length + cutOffMax);
    for (const number of acknowledged) {
      const { body } = await client.record(batchOf(number, batchSize));
      expect(body).toEqual({ recorded: 0, duplicates: batchSize });
    }
    expect(await again.stop()).toMatchObject({ status: 0 });
    await succeed(place.run(['verify']));
  });
});

test('an idle connection does not delay the stop', async () => {
  const place = await emptyPlace();
  const server = await place.spawnServer();
  const { project: id, admin } = firstRunOf(server);
  // `fetch` keeps the connection for the next request.
  expect(await clientOf(server, id, admin).count()).toMatchObject({ status: 200 });
  expect(await server.stop()).toMatchObject({ status: 0 });
});

test('SIGHUP does not stop it', async () => {
  const place = await emptyPlace();
  const server = await place.spawnServer();
  const { project: id, admin } = firstRunOf(server);
  kill(server.pid, 'SIGHUP');
  expect(await clientOf(server, id, admin).count()).toMatchObject({ status: 200 });
  expect(await server.stop()).toMatchObject({ status: 0, signal: null });
});

test.each(isDeep ? (['SIGTERM', 'SIGINT'] as const) : (['SIGINT'] as const))(
  '%s while the server is still starting stops it properly',
  async (signal) => {
    const place = await emptyPlace();
    const running = startCli(['serve', '--port', '0', '--demo'], { env: place.env, cwd: place.folder });
    await running.printed(/^caller-stats listens on /m);
    kill(running.pid, signal);
    expect(await running.ended).toMatchObject({ status: 0, signal: null });
    await succeed(place.run(['verify']));
  },
);
