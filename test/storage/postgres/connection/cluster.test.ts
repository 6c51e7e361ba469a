import pino from 'pino';
import { describe, expect, test } from 'vitest';
import { watchServers } from '../../../../src/app/jobs/watch-servers.js';
import { CallerStatsError } from '../../../../src/domain/errors.js';
import type { ServerState } from '../../../../src/storage/ports/store-stats.js';
import { probeServers, requireAnyServer } from '../../../../src/storage/postgres/connection/cluster.js';

const servers = [
  { name: 'w1:5432', projectId: '1' },
  { name: 'w2:5432', projectId: '4' },
];

/** A count that fails for these projects. */
const countWithout =
  (...down: string[]) =>
  async (projectId: string): Promise<void> => {
    if (down.includes(projectId)) throw new CallerStatsError('unavailable', 'its server is down');
  };

describe('the servers of a cluster', () => {
  test('are ready unless all are down, and then named', async () => {
    const error = await requireAnyServer(servers, countWithout('1', '4')).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('w1:5432, w2:5432'),
    });
    for (const down of [[], ['1'], ['4']]) await requireAnyServer(servers, countWithout(...down));
  });

  test('are ready although one of them does not answer', async () => {
    const never = new Promise<void>(() => {});
    await requireAnyServer(servers, (projectId) => (projectId === '1' ? never : Promise.resolve()));
  });

  test('are up or down by their own counts', async () => {
    expect(await probeServers(servers, countWithout('4'))).toEqual([
      { name: 'w1:5432', isUp: true },
      { name: 'w2:5432', isUp: false },
    ]);
    expect(await probeServers([], countWithout())).toEqual([]);
  });
});

test('the log names a server once when it fails and once when it is back', async () => {
  const lines: { level: number; server?: string }[] = [];
  const log = pino({}, { write: (line) => lines.push(JSON.parse(line)) });
  const stop = new AbortController();
  const seen: ServerState[][] = [
    [{ name: 'w1:5432', isUp: true }],
    [{ name: 'w1:5432', isUp: false }],
    [{ name: 'w1:5432', isUp: false }],
    [],
    [{ name: 'w1:5432', isUp: true }],
  ];
  const maintenance = {
    stats: () => {
      const now = seen.shift() ?? [];
      return Promise.resolve({
        pendingOperations: 0,
        pendingQueries: 0,
        sizeBytes: 1,
        pools: [],
        servers: now,
      });
    },
  };
  const pause = async () => {
    if (seen.length === 0) stop.abort();
  };
  await watchServers({ maintenance }, { signal: stop.signal, log, pause });
  expect(lines.map(({ level, server }) => [level, server])).toEqual([
    [40, 'w1:5432'],
    [30, 'w1:5432'],
  ]);
});
