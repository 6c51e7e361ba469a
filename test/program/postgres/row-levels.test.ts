/** Which counters include a query depends on how many others its bucket has. Counts never do. */
import { expect, inject, test } from 'vitest';
import { BUCKET_WIDTHS_MS } from '../../../src/domain/counting/buckets.js';
import type { Query } from '../../../src/domain/queries/query.js';
import type { Store } from '../../../src/storage/ports/store.js';
import { rangesOver, recount } from '../../support/storage/ledger.js';
import {
  by,
  newSchemaIn,
  onDatabase,
  openForTest,
  projectOf,
  schemaOf,
} from '../../support/storage/store.js';

const databaseUrl = inject('postgresServers').at(-1)?.url ?? '';
const start = 1_767_225_600_000;
const [, tenSecondsMs = 0, quarterMs = 0] = BUCKET_WIDTHS_MS;
const callers = ['web', 'api', 'slack', 'sdk-python'];

/** Queries spread over the milliseconds from `from` on, in no order. */
const spread = (name: string, amount: number, from: number, spanMs: number): Query[] =>
  Array.from({ length: amount }, (_, at) => ({
    id: `${name} ${at}`,
    caller: callers[at % callers.length] ?? '',
    occurredAt: from + ((at * 7919) % spanMs),
  }));

async function openMany(stores: number): Promise<{ url: string; all: Store[] }> {
  const url = newSchemaIn(databaseUrl);
  const first = await openForTest(url);
  await first.directory.createProject(projectOf('p'), by);
  const others = await Promise.all(Array.from({ length: stores - 1 }, () => openForTest(url)));
  return { url, all: [first, ...others] };
}

/** The number of rows of each level that occurred before a time. */
async function levelsIn(url: string, before = Number.MAX_SAFE_INTEGER): Promise<ReadonlyMap<number, number>> {
  const { rows } = await onDatabase(url, (client) =>
    client.query<{ level: number; rows: number }>(
      `SELECT level, count(*)::integer AS rows FROM ${schemaOf(url)}.query WHERE occurred_at < $1 GROUP BY level`,
      [before],
    ),
  );
  return new Map(rows.map(({ level, rows: amount }) => [level, amount]));
}

async function expectCounted(stores: readonly Store[], recorded: readonly Query[]): Promise<void> {
  for (const [at, range] of rangesOver(recorded, 30).entries())
    expect(await stores[at % stores.length]?.counts.count('p', range)).toEqual(recount(recorded, range));
  expect(await stores[0]?.maintenance.verify()).toMatchObject({
    queries: recorded.length,
    differencesTotal: 0,
  });
}

test('nodes that make a bucket busy at the same time count exactly, and few rows lack counters', async () => {
  const nodes = 4;
  const { url, all } = await openMany(nodes);
  const recorded: Query[] = [];
  // Each round sees the queries of those before it, but none of its own other calls.
  for (const [round, ofTenSeconds] of [0, 1500, 1500, 1500].entries()) {
    const ofRound = all.map((_, node) => [
      ...spread(`ten seconds of ${node} in ${round}`, ofTenSeconds, start, tenSecondsMs),
      ...spread(`quarter of ${node} in ${round}`, 400, start, quarterMs),
    ]);
    recorded.push(...ofRound.flat());
    await Promise.all(
      all.flatMap((store, node) => {
        const sent = ofRound[node] ?? [];
        return [sent, ...sent.slice(-20).map((one) => [one])].map((batch) => store.counts.record('p', batch));
      }),
    );
  }
  await expectCounted(all, recorded);
  const levels = await levelsIn(url);
  expect([...levels.keys()].toSorted()).toEqual([0, 1, 2]);
  // A call does not see the queries of those that run beside it.
  expect(levels.get(2)).toBeLessThan(1000 * nodes);
  const ofTenSeconds = await levelsIn(url, start + tenSecondsMs);
  expect(ofTenSeconds.get(1)).toBeLessThan(10_000 + 1500 * nodes);
});

test('a call counts its own queries when it chooses counters', async () => {
  const { url, all } = await openMany(1);
  const few = spread('few', 999, start, tenSecondsMs);
  const many = spread('many', 1000, start + quarterMs, quarterMs);
  const most = spread('most', 10_000, start + 2 * quarterMs, tenSecondsMs);
  for (const batch of [few, many, most]) await all[0]?.counts.record('p', batch);
  expect(Object.fromEntries(await levelsIn(url))).toEqual({ 0: 10_000, 1: 1000, 2: 999 });
  const [another] = spread('another', 1, start, 1);
  if (another === undefined) throw new Error('there is one');
  const [busy, busier] = [quarterMs, 2 * quarterMs].map((beside) => ({
    ...another,
    id: `another after ${beside}`,
    occurredAt: start + beside,
  })) as [Query, Query];
  const last = { ...another, id: 'the first of the rest' };
  // Each alone, as a call of its own. The last two lie in the first bucket, which the next to last makes busy.
  for (const one of [busy, busier, another, last]) await all[0]?.counts.record('p', [one]);
  expect(Object.fromEntries(await levelsIn(url))).toEqual({ 0: 10_001, 1: 1002, 2: 1000 });
  const ofEachCaller = [quarterMs, 2 * quarterMs, 3 * quarterMs].flatMap((beside) =>
    spread(`alone after ${beside}`, callers.length, start + beside, tenSecondsMs),
  );
  for (const one of ofEachCaller) await all[0]?.counts.record('p', [one]);
  expect(Object.fromEntries(await levelsIn(url))).toEqual({ 0: 10_005, 1: 1006, 2: 1004 });
  await expectCounted(all, [...few, ...many, ...most, busy, busier, another, last, ...ofEachCaller]);
});

test('a program of an older version can neither count nor remove rows', async () => {
  const { url } = await openMany(1);
  const schema = schemaOf(url);
  for (const [text, code] of [
    [`SELECT sum(web) FROM ${schema}.type_counter WHERE project_id = 'p'`, '42P01'],
    [`SELECT rows_from, swept_to FROM ${schema}.project`, '42703'],
  ] as const)
    await expect(onDatabase(url, (client) => client.query(text))).rejects.toMatchObject({ code });
});
