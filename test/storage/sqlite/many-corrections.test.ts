/** A project with as many corrections as it can have, all of them of one query. */
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { expect, test } from 'vitest';
import { finishAll } from '../../../src/app/corrections.js';
import { readChanges } from '../../../src/app/reading/changes.js';
import type { CorrectionRequest } from '../../../src/domain/corrections/correction.js';
import { NO_FIGURES } from '../../../src/domain/corrections/figures.js';
import { ALL_TIME } from '../../../src/domain/counting/date-range.js';
import { changesListedMax, correctionsMax, pageCorrectionsMax } from '../../../src/domain/limits.js';
import { DEFAULT_WEEK_START } from '../../../src/domain/time/calendar.js';
import { dayMs } from '../../../src/domain/time/duration.js';
import { UTC } from '../../../src/domain/time/time-zone.js';
import type { History } from '../../../src/storage/ports/history.js';
import { openSqliteStore } from '../../../src/storage/sqlite/store.js';
import { whenOver } from '../../support/cleanup.js';
import { by, projectOf } from '../../support/storage/entities.js';
import { temporaryFolder } from '../../support/temporary.js';

const clock = { now: () => 3 * dayMs };

const rename = (id: string, ids: readonly string[], to: string): CorrectionRequest => ({
  ...{ id, reason: 'a test', action: 'rename', to },
  selection: { ids },
});

/** The query `q` was given the callers `slack`, `web`, `slack`, …; the last two corrections are still to be made. */
async function openFull() {
  const file = join(await temporaryFolder(), 'store.db');
  const store = await openSqliteStore(file);
  whenOver(() => store.close());
  await store.directory.createProject(projectOf('p'), by);
  const queries = ['q', 'q1', 'q2', 'q3', 'q4'].map((id) => ({ id, caller: 'web', occurredAt: 2 * dayMs }));
  await store.counts.record('p', [...queries, { id: 'other', caller: 'slack', occurredAt: 1 }]);
  const db = new DatabaseSync(file);
  db.exec(`
    INSERT INTO correction (project, number, id, action, to_caller, request, receipts_to, created_by, created_at, figures, finished_at)
    WITH RECURSIVE made (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM made WHERE number < ${correctionsMax - 2})
    SELECT project.number, made.number, 'c' || made.number, 'rename', iif(made.number % 2 = 1, 'slack', 'web'),
      json_object('id', 'c' || made.number, 'reason', '', 'action', 'rename', 'to', iif(made.number % 2 = 1, 'slack', 'web'),
        'selection', json_object('ids', 1)),
      0, 'a test', ${2 * dayMs}, '${JSON.stringify(NO_FIGURES)}', ${2 * dayMs}
    FROM made JOIN project ON project.id = 'p';
    INSERT INTO corrected_query (project, correction, id, caller)
    SELECT project, correction.number, 'q', caller.number FROM correction
    JOIN caller ON name = iif(correction.number % 2 = 1, 'web', 'slack');
  `);
  db.close();
  return store;
}

test('a project has room for this many corrections, and for their undos', async () => {
  const store = await openFull();
  const { corrections } = store;
  await corrections.accept('p', rename('all', ['q', 'q1', 'q2', 'q3', 'q4'], 'api'), by);
  await corrections.accept('p', rename('last', ['q'], 'teams'), by);
  const request = rename('more', ['q1'], 'teams');
  const refusal = {
    code: 'invalid',
    details: [
      'id: the project has 20,000 corrections, the most that it can have; only undos are still accepted',
    ],
  };
  await expect(corrections.accept('p', request, by)).rejects.toMatchObject(refusal);
  await expect(corrections.measure('p', request, null)).rejects.toMatchObject(refusal);
  expect(await corrections.accept('p', rename('last', ['q'], 'teams'), by)).toMatchObject({ undoneBy: null });
  await finishAll({ store, clock }, 'p');
  const counted = async () => (await store.counts.countCallers('p', ALL_TIME)).callers;
  expect(await counted()).toMatchObject([
    ...[
      { caller: 'api', count: 4 },
      { caller: 'slack', count: 1 },
      { caller: 'teams', count: 1 },
    ],
  ]);
  await corrections.accept('p', { id: 'u1', reason: '', action: 'undo', correction: 'last' }, by);
  await finishAll({ store, clock }, 'p');
  expect(await counted()).toMatchObject([
    { caller: 'api', count: 5 },
    { caller: 'slack', count: 1 },
  ]);
  await corrections.accept('p', { id: 'u2', reason: '', action: 'undo', correction: 'all' }, by);
  // Each step reads all corrections of two queries.
  expect(await finishAll({ store, clock }, 'p')).toBe(3);
  expect(await counted()).toMatchObject([
    { caller: 'web', count: 5 },
    { caller: 'slack', count: 1 },
  ]);
});

test('what has changed of a query is summed with other work of the event loop in between', async () => {
  const store = await openFull();
  let [turns, readAt, most, isOver] = [0, Number.POSITIVE_INFINITY, 0, false];
  const count = (): void => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const history: History = {
    findPast: (...args) => {
      most = Math.max(most, turns - readAt);
      return store.history.findPast(...args);
    },
    readPast: async (...args) => {
      most = Math.max(most, turns - readAt);
      const page = await store.history.readPast(...args);
      readAt = turns;
      return page;
    },
  };
  const { corrections } = store;
  const calendar = { timeZone: UTC, weekStart: DEFAULT_WEEK_START };
  // Its page is the last one.
  const range = { from: 2 * dayMs, to: 2 * dayMs + 1 };
  const asked = { ...calendar, range, since: dayMs, compared: undefined, caller: undefined };
  const { before, now, changes, otherChanges } = await readChanges({ history, corrections }, 'p', asked);
  isOver = true;
  expect(now).toMatchObject({ web: 5, other: 0 });
  expect(changes).toHaveLength(changesListedMax);
  const change = changes.reduce((sum, { count: queries }) => sum + queries, otherChanges.total);
  expect(before.total + change).toBe(now.total);
  // There are two changes for each correction.
  expect(most).toBeGreaterThanOrEqual((2 * (correctionsMax - 2)) / 500 - 1);
});

test('corrections that earlier versions left behind hide no query from an export', async () => {
  const file = join(await temporaryFolder(), 'store.db');
  const store = await openSqliteStore(file);
  whenOver(() => store.close());
  await store.directory.createProject(projectOf('p'), by);
  await store.counts.record('p', [{ id: 'q', caller: 'web', occurredAt: 1 }]);
  const db = new DatabaseSync(file);
  db.exec(`
    INSERT INTO corrected_query (project, correction, id, caller)
    WITH RECURSIVE gone (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM gone WHERE number <= ${pageCorrectionsMax})
    SELECT project.number, 1, 'gone ' || gone.number, 0 FROM gone JOIN project ON project.id = 'p';
  `);
  db.close();
  expect(await store.counts.readQueries('p', undefined, 10)).toMatchObject([{ id: 'q' }]);
  expect(await store.counts.readQueries('p', 'q', 10)).toEqual([]);
});
