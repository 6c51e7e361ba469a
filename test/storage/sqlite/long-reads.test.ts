/** What a project or an organization has any number of is read in parts, with other work of the event loop in between. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Carried } from '../../../src/app/carried.js';
import { correct, listCorrections } from '../../../src/app/corrections.js';
import { readChanges } from '../../../src/app/reading/changes.js';
import { hashIds } from '../../../src/domain/corrections/carried.js';
import { NO_FIGURES } from '../../../src/domain/corrections/figures.js';
import { ALL_TIME } from '../../../src/domain/counting/date-range.js';
import { DEFAULT_ORGANIZATION_ID } from '../../../src/domain/projects/organization.js';
import { DEFAULT_WEEK_START } from '../../../src/domain/time/calendar.js';
import { dayMs, hourMs } from '../../../src/domain/time/duration.js';
import { UTC } from '../../../src/domain/time/time-zone.js';
import { openSqliteStore } from '../../../src/storage/sqlite/store.js';
import { whenOver } from '../../support/cleanup.js';
import { by, projectOf } from '../../support/storage/entities.js';
import { memberOf } from '../../support/users/people.js';

async function openNew() {
  const folder = await mkdtemp(join(tmpdir(), 'caller-stats-long-reads-'));
  whenOver(() => rm(folder, { recursive: true, force: true }));
  const store = await openSqliteStore(join(folder, 'store.db'));
  whenOver(() => store.close());
  await store.directory.createProject(projectOf('p'), by);
  return store;
}

/** How often the event loop came to other work meanwhile. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let [turns, isOver] = [0, false];
  const count = (): void => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await work();
  isOver = true;
  return turns;
}

test('the imported counts that a bound cuts', async () => {
  const store = await openNew();
  const counts = Array.from({ length: 5_600 }, (_, at) => ({
    ...{ source: `s${at}`, caller: 'web', count: 1 },
    ...{ start: hourMs * (at % 7), end: hourMs * (at % 7) + 300 * dayMs },
  }));
  await store.counts.importCounts('p', counts);
  let cut: unknown;
  const edges = [0, hourMs, 2 * hourMs + 1, 9 * dayMs];
  const turns = await turnsDuring(async () => {
    cut = await store.counts.findCutSpan('p', edges);
  });
  expect(cut).toEqual({ start: 0, end: 6 * hourMs + 300 * dayMs, count: 5_600 });
  expect(turns).toBeGreaterThanOrEqual(2);
});

test('the audit log, by what no index has', async () => {
  const store = await openNew();
  await store.directory.addMember(memberOf('ada@example.org'), by);
  const rename = () =>
    store.directory.logUserChange('ada@example.org', { action: 'user.name', detail: '' }, by);
  await Promise.all(Array.from({ length: 9_000 }, rename));
  const read = (filter: object) =>
    turnsDuring(async () =>
      expect(await store.directory.readAudit(DEFAULT_ORGANIZATION_ID, { limit: 1, ...filter })).toEqual([]),
    );
  expect(await read({ to: -1e12 })).toBeGreaterThanOrEqual(4);
  expect(
    await read({ actor: by.name, targetId: 'ada@example.org', action: 'key.create' }),
  ).toBeGreaterThanOrEqual(4);
});

test('the corrections of a project, for its past and for an export', async () => {
  const store = await openNew();
  const ids = Array.from({ length: 2_100 }, (_, at) => `q${at}`);
  await store.counts.record(
    'p',
    ids.map((id) => ({ id, caller: 'web', occurredAt: 1 })),
  );
  const restored = ids.map((id, at) =>
    store.corrections.restore('p', {
      request: { id, action: 'withdraw', reason: 'a test', selection: { ids: 1 } },
      ...{ idsHash: hashIds(`["${id}"]`), figures: NO_FIGURES, createdBy: 'a test' },
      ...{ createdAt: at, finishedAt: at },
    }),
  );
  await Promise.all(restored);
  const past = await turnsDuring(async () => {
    const { corrections } = await store.history.findPast('p', ALL_TIME);
    expect(corrections.map(({ number }) => number)).toEqual(ids.map((_, at) => at + 1));
  });
  expect(past).toBeGreaterThanOrEqual(2);
  const carried: string[] = [];
  const exported = await turnsDuring(async () => {
    for await (const { request } of new Carried().read(store.corrections, 'p')) carried.push(request.id);
  });
  expect(carried).toEqual(ids);
  expect(exported).toBeGreaterThanOrEqual(200);
  const listed = await turnsDuring(async () => {
    const page = await listCorrections(store, 'p', undefined);
    expect(page.corrections.map(({ id }) => id)).toEqual(ids.slice(-100).toReversed());
    expect(page.next).toBe('2001');
  });
  expect(listed).toBeGreaterThanOrEqual(9);
});

test('why queries were corrected', async () => {
  const store = await openNew();
  const ids = Array.from({ length: 40 }, (_, at) => `q${at}`);
  await store.counts.record(
    'p',
    ids.map((id) => ({ id, caller: 'web', occurredAt: 1 })),
  );
  const now = Date.now();
  const target = { store, clock: { now: () => now } };
  for (const id of ids) {
    const request = { id, action: 'withdraw', reason: 'a test', selection: { ids: [id] } } as const;
    await correct(target, 'p', request, { ...by, at: now });
  }
  const since = Math.floor(now / dayMs) * dayMs;
  const calendar = { timeZone: UTC, weekStart: DEFAULT_WEEK_START };
  const asked = { ...calendar, range: ALL_TIME, since, compared: undefined, caller: undefined };
  const turns = await turnsDuring(async () => {
    const { changes } = await readChanges(store, 'p', asked);
    expect(changes.filter(({ reason }) => reason === 'a test')).toHaveLength(40);
  });
  expect(turns).toBeGreaterThanOrEqual(40);
});
