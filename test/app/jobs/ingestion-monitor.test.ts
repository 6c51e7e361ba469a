/** Diagnostics beside a store that is away: it is asked seldom, and gets everything later. */
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { IngestionMonitor } from '../../../src/app/jobs/ingestion-monitor.js';
import { CallerStatsError } from '../../../src/domain/errors.js';
import type { SourceBucket } from '../../../src/domain/ingestion/source-counts.js';
import { mapTelemetrySettings, ProjectRules } from '../../../src/domain/queries/telemetry-settings.js';

test('asks a store that is away once in each write, and stores what arrived in all projects once it is back', async () => {
  const added = new Map<string, number>();
  let asked = 0;
  let isAway = true;
  const ingestion = {
    add: async (projectId: string, buckets: readonly SourceBucket[]) => {
      asked++;
      if (isAway) throw new CallerStatsError('unavailable', 'Not now.');
      for (const { counts } of buckets) added.set(projectId, (added.get(projectId) ?? 0) + counts.arrived);
    },
    listSources: async () => [],
    sum: async () => [],
    listOutdated: async () => [],
    prune: async () => ({ removed: 0, done: true }),
  };
  const monitor = new IngestionMonitor({
    store: { ingestion },
    clock: { now: () => 1_000_000 },
    projectRules: new ProjectRules(mapTelemetrySettings(() => 'default')),
    log: pino({ enabled: false }),
    metrics: undefined,
  });
  const projects = ['a', 'b', 'c', 'd'];
  for (const id of projects) monitor.note(id, { kind: 'traces', name: 'docs', counts: { arrived: 2 } });
  await monitor.flush();
  await monitor.flush();
  expect([asked, added.size]).toEqual([2, 0]);
  isAway = false;
  await monitor.flush();
  expect(added).toEqual(new Map(projects.map((id) => [id, 2])));
});
