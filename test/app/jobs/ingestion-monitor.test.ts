/** Diagnostics beside a store that is away: it is asked seldom, and gets everything later. */
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { IngestionMonitor } from '../../../src/app/jobs/ingestion-monitor.js';
import { CallerStatsError } from '../../../src/domain/errors.js';
import { UNKNOWN_KEY } from '../../../src/domain/ingestion/source-counts.js';
import { strangersMax } from '../../../src/domain/limits.js';
import { ProjectRules } from '../../../src/domain/queries/telemetry-settings.js';
import type { Ingestion } from '../../../src/storage/ports/ingestion.js';

/** A monitor whose store does nothing but `add`. */
function monitorOf(add: Ingestion['add']): IngestionMonitor {
  const ingestion: Ingestion = {
    add,
    listRefusals: async () => [],
    listSources: async () => [],
    sum: async () => [],
    listOutdated: async () => [],
    prune: async () => ({ removed: 0, done: true }),
  };
  return new IngestionMonitor({
    store: { ingestion, directory: { listExpiringKeys: async () => [] } },
    clock: { now: () => 1_000_000 },
    projectRules: new ProjectRules(),
    log: pino({ enabled: false }),
    metrics: undefined,
  });
}

test('asks a store that is away once in each write, and stores what arrived in all projects once it is back', async () => {
  const added = new Map<string, number>();
  let asked = 0;
  let isAway = true;
  const monitor = monitorOf(async (projectId, buckets) => {
    asked++;
    if (isAway) throw new CallerStatsError('unavailable', 'Not now.');
    for (const { counts } of buckets) added.set(projectId, (added.get(projectId) ?? 0) + counts.arrived);
  });
  const projects = ['a', 'b', 'c', 'd'];
  for (const id of projects) monitor.note({ id }, { kind: 'traces', name: 'docs', counts: { arrived: 2 } });
  await monitor.flush();
  await monitor.flush();
  expect([asked, added.size]).toEqual([2, 0]);
  isAway = false;
  await monitor.flush();
  expect(added).toEqual(new Map(projects.map((id) => [id, 2])));
});

test('what strangers send is counted for few projects between two writes', async () => {
  const asked: string[] = [];
  const monitor = monitorOf(async (projectId) => {
    asked.push(projectId);
    if (projectId !== 'docs') throw new CallerStatsError('not_found', `There is no project ${projectId}.`);
  });
  const refused = { kind: 'queries', name: UNKNOWN_KEY, counts: { requests: 1, refused: 1 } } as const;
  for (const round of [1, 2]) {
    for (let number = 0; number < 2 * strangersMax; number++)
      monitor.noteStranger(`invented-${round}-${number}`, refused);
    monitor.note({ id: 'docs' }, { kind: 'queries', name: 'key', counts: { requests: 1 } });
    monitor.noteStranger('docs', refused);
    await monitor.flush();
    expect(asked).toHaveLength(round * (strangersMax + 1));
    expect(asked.at(-1)).toBe('docs');
  }
});

test('what arrived at a deleted project is not counted for a new one with its id', async () => {
  const added: unknown[] = [];
  const monitor = monitorOf(async (projectId, buckets, identity) => {
    added.push([projectId, buckets.map(({ name, counts }) => [name, counts.requests]), identity]);
  });
  const delivery = (name: string) => ({ kind: 'traces', name, counts: { requests: 1 } }) as const;
  monitor.note({ id: 'docs', createdAt: 1 }, delivery('before'));
  monitor.note({ id: 'docs', createdAt: 2 }, delivery('after'));
  monitor.note({ id: 'docs' }, delivery('after'));
  await monitor.flush();
  expect(added).toEqual([['docs', [['after', 2]], { createdAt: 2 }]]);
});
