/** Property of the past: counts as of an earlier day equal a naive recount of that day, and with all changes since, those of now. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Changes } from '../../src/app/reading/changes.js';
import { CALLER_STATS, CALLERS, CHANGES, SERIES } from '../../src/app/reading/reports.js';
import { recordTelemetry } from '../../src/app/record-telemetry.js';
import type { CorrectionRequest } from '../../src/domain/corrections/correction.js';
import type { CallerCounts } from '../../src/domain/counting/counts.js';
import { ALL_TIME, type DateRange } from '../../src/domain/counting/date-range.js';
import { DEFAULT_ORGANIZATION_ID } from '../../src/domain/projects/organization.js';
import { callerType } from '../../src/domain/queries/caller.js';
import type { Query } from '../../src/domain/queries/query.js';
import { dayMs, quarterHourMs } from '../../src/domain/time/duration.js';
import { UTC } from '../../src/domain/time/time-zone.js';
import type { Store } from '../../src/storage/ports/store.js';
import { traceId } from '../support/http/telemetry.js';
import { by, placeFactories, purgeAll } from '../support/storage/store.js';
import { isDeep } from '../support/volume.js';
import { lawParameters, openTwo, recountCallers } from './events.js';
import { exported, imported } from './round-trip.js';

const org = DEFAULT_ORGANIZATION_ID;
const startDay = 20_477;
const startMs = startDay * dayMs;
const callers = ['web', 'api', 'slak', 'slack'] as const;

const query = fc.record({
  number: fc.nat(19),
  caller: fc.constantFrom(...callers),
  ms: fc.constantFrom(-1, 0, 1, quarterHourMs - 1, quarterHourMs, dayMs - 1, dayMs, 3 * dayMs),
  sender: fc.constantFrom('key:one', 'telemetry:one:shop', 'import:old.csv'),
  /** What an import of an export brings with it. */
  arrived: fc.option(fc.nat(3), { freq: 6 }),
});

const selection = fc.oneof(
  fc.record({ ids: fc.uniqueArray(fc.nat(19), { minLength: 1, maxLength: 6 }) }),
  fc.record({ caller: fc.constantFrom(...callers) }),
);
const source = fc.constantFrom('old', 'older');

const event = fc.oneof(
  { weight: 5, arbitrary: fc.record({ record: fc.array(query, { minLength: 1, maxLength: 6 }) }) },
  { weight: 3, arbitrary: fc.record({ import: source, caller: fc.constantFrom(...callers), at: fc.nat(3) }) },
  { weight: 3, arbitrary: fc.record({ withdraw: selection }) },
  { weight: 1, arbitrary: fc.record({ withdrawSource: source }) },
  { weight: 3, arbitrary: fc.record({ rename: selection, to: fc.constantFrom('web', 'slack', 'bot') }) },
  { weight: 3, arbitrary: fc.record({ undo: fc.nat(8) }) },
  { weight: 2, arbitrary: fc.constant({ leave: true }) },
  { weight: 6, arbitrary: fc.constant({ nextDay: true }) },
);

type Event = typeof event extends fc.Arbitrary<infer T> ? T : never;
type Drawn = typeof query extends fc.Arbitrary<infer T> ? T : never;

/** Something that counts: a query, or an imported count, which is several. */
interface Known extends Query {
  readonly queries: number;
  readonly arrived: number;
  readonly source: string | null;
  /** For whom it counted, each with the first day at whose start it did; undefined if it did not. */
  readonly counted: (readonly [day: number, caller: string | undefined])[];
}

interface Done {
  readonly request: CorrectionRequest;
  /** What it changed; it concerns nothing else when an earlier correction is undone. */
  readonly matched: ReadonlySet<Known>;
  isUndone: boolean;
}

const idOf = (number: number): string =>
  number % 2 === 0 ? `id ${number}` : `0190a8b2-7c3e-7d4f-8a5b-${String(number).padStart(12, '0')}`;

class Model {
  readonly known = new Map<string, Known>();
  readonly done = new Map<string, Done>();
  /** The days at whose start a correction was being carried out. */
  readonly unclear = new Set<number>();
  day = startDay;

  /** Whether it is new. */
  add(one: Omit<Known, 'counted'>): boolean {
    if (this.known.has(one.id)) return false;
    this.known.set(one.id, { ...one, counted: [[Number.NEGATIVE_INFINITY, one.caller]] });
    return true;
  }

  correct(request: CorrectionRequest): void {
    if (request.action === 'undo') {
      const undone = this.done.get(request.correction);
      if (undone !== undefined) undone.isUndone = true;
    } else {
      const { selection: selected } = request;
      const to = request.action === 'rename' ? request.to : undefined;
      const matched = [...this.known.values()].filter((one) => {
        const caller = nowOf(one);
        if (caller === undefined || caller === to) return false;
        if ('source' in selected) return one.source === selected.source;
        if (one.source !== null) return false;
        return 'ids' in selected ? selected.ids.includes(one.id) : caller === selected.caller;
      });
      this.done.set(request.id, { request, matched: new Set(matched), isUndone: false });
    }
    for (const one of this.known.values()) one.counted.push([this.day + 1, this.#recount(one)]);
  }

  #recount(one: Known): string | undefined {
    let caller: string | undefined = one.caller;
    for (const { request, matched, isUndone } of this.done.values()) {
      if (isUndone || !matched.has(one) || caller === undefined) continue;
      if (request.action === 'withdraw') caller = undefined;
      else if (request.action === 'rename') caller = request.to;
    }
    return caller;
  }

  /** What counted at the start of a day. */
  at(day: number): Query[] {
    return [...this.known.values()].flatMap((one) => {
      const caller = one.counted.findLast(([from]) => from <= day)?.[1];
      if (one.arrived >= day || caller === undefined) return [];
      return Array.from({ length: one.queries }, () => ({ ...one, caller }));
    });
  }
}

function nowOf({ counted }: Known): string | undefined {
  return counted.at(-1)?.[1];
}

class Run {
  readonly model = new Model();
  readonly project: string;
  readonly #store: Store;

  constructor(store: Store, project: string) {
    this.#store = store;
    this.project = project;
  }

  async perform(what: Event, id: string): Promise<void> {
    const { model, project } = this;
    if ('record' in what) return this.#record(what.record);
    if ('import' in what) {
      const start = startMs + what.at * quarterHourMs;
      const count = { source: what.import, caller: what.caller, start, end: start + 1, count: 2 };
      await this.#store.counts.importCounts(project, [count], { day: model.day });
      const known = { id: JSON.stringify(count), occurredAt: start, queries: 2, arrived: model.day };
      model.add({ ...known, caller: count.caller, source: count.source });
    } else if ('nextDay' in what) {
      model.day++;
      if ((await this.#store.corrections.listUnfinished()).includes(project)) model.unclear.add(model.day);
    } else if ('leave' in what) await this.#correct('left', { rename: { caller: 'slak' }, to: 'bot' }, 1);
    else await this.#correct(id, what, Number.POSITIVE_INFINITY);
  }

  async #record(batch: readonly Drawn[]): Promise<void> {
    const { model, project } = this;
    const sent = batch.map(({ number, caller, ms, sender, arrived }) => {
      const day = arrived === null ? model.day : Math.min(startDay + arrived, model.day);
      return { id: idOf(number), caller, occurredAt: startMs + ms, receipt: { day, sender } };
    });
    const { recorded } = await this.#store.counts.record(project, sent);
    const added = sent.map(({ receipt, ...one }) =>
      model.add({ ...one, queries: 1, arrived: receipt.day, source: null }),
    );
    expect(recorded).toBe(added.filter(Boolean).length);
  }

  /** Accepts a correction and carries it out, but no more than so many steps. */
  async #correct(id: string, what: Event, steps: number): Promise<void> {
    const { model, project } = this;
    const request = toRequest(model, id, what);
    if (request === undefined || model.done.has(id)) return;
    await this.finish();
    const at = { ...by, at: model.day * dayMs + 1 };
    try {
      await this.#store.corrections.accept(project, request, at);
    } catch (error) {
      expect(error).toMatchObject({ code: 'invalid' });
      return;
    }
    model.correct(request);
    await this.finish(steps);
  }

  async finish(steps = Number.POSITIVE_INFINITY): Promise<void> {
    const { project, model } = this;
    for (let at = 0; at < steps; at++)
      if ((await this.#store.corrections.step(project, model.day * dayMs + 2, 2)) === undefined) return;
  }
}

function toRequest(model: Model, id: string, what: Event): CorrectionRequest | undefined {
  const reason = 'a law';
  const toSelection = (
    drawn: typeof selection extends fc.Arbitrary<infer T> ? T : never,
  ): Extract<CorrectionRequest, { action: 'withdraw' }>['selection'] & { ids?: readonly string[] } =>
    'ids' in drawn
      ? { ids: drawn.ids.map(idOf).filter((one) => model.known.has(one)) }
      : { ...drawn, range: ALL_TIME, receipts: { from: undefined, to: undefined, sender: undefined } };
  if ('undo' in what) {
    const ids = [...model.done].filter(([, { isUndone }]) => !isUndone).map(([one]) => one);
    const correction = ids[what.undo % Math.max(ids.length, 1)];
    return correction === undefined ? undefined : { id, reason, action: 'undo', correction };
  }
  const selected = 'withdraw' in what ? what.withdraw : 'rename' in what ? what.rename : undefined;
  // What nobody can ask for.
  if (selected !== undefined && 'ids' in selected && toSelection(selected).ids?.length === 0)
    return undefined;
  if ('rename' in what && 'caller' in what.rename && what.rename.caller === what.to) return undefined;
  if ('withdraw' in what) return { id, reason, action: 'withdraw', selection: toSelection(what.withdraw) };
  if ('withdrawSource' in what)
    return { id, reason, action: 'withdraw', selection: { source: what.withdrawSource } };
  if ('rename' in what)
    return { id, reason, action: 'rename', selection: toSelection(what.rename), to: what.to };
  return undefined;
}

/** A query in telemetry, of which each event may tell more: its caller, that it is another one, or none. */
const found = fc.record({
  trace: fc.nat(2),
  message: fc.option(fc.constant('a'), { freq: 1 }),
  caller: fc.option(fc.constantFrom('web', 'slack')),
  isIgnored: fc.nat(4).map((number) => number === 0),
  ms: fc.nat(3),
});

const seenEvent = fc.oneof(
  { weight: 6, arbitrary: fc.record({ found: fc.array(found, { minLength: 1, maxLength: 3 }) }) },
  { weight: 2, arbitrary: fc.record({ withdraw: fc.nat(2) }) },
  { weight: 3, arbitrary: fc.record({ rename: fc.nat(2), to: fc.constantFrom('slack', 'bot') }) },
  { weight: 3, arbitrary: fc.record({ undo: fc.nat(2) }) },
  { weight: 3, arbitrary: fc.constant({ nextDay: true }) },
);

/** What is answered at each midnight, which is what that day is remembered for. */
class Seen {
  readonly project: string;
  readonly answers = new Map<number, readonly CallerCounts[]>();
  readonly #store: Store;
  readonly #corrections: string[] = [];
  #day = startDay;
  #steps = 0;

  constructor(store: Store, project: string) {
    this.#store = store;
    this.project = project;
  }

  async perform(what: typeof seenEvent extends fc.Arbitrary<infer T> ? T : never): Promise<void> {
    const nowMs = this.#day * dayMs + ++this.#steps;
    if ('nextDay' in what) this.answers.set(++this.#day, await this.answer());
    else if ('found' in what) await this.#find(what.found, nowMs);
    else await this.#correct(what, nowMs);
  }

  answer(): Promise<CallerCounts[]> {
    return Promise.all(
      ranges.map((range) => CALLERS.read(this.#store, this.project, { ...calendar, range })),
    );
  }

  async #find(facts: readonly (typeof found extends fc.Arbitrary<infer T> ? T : never)[], nowMs: number) {
    const queries = facts.map(({ trace, message, caller, isIgnored, ms }) => ({
      keys: {
        ...{ traceId: traceId(trace), service: 'docs', isIgnored },
        explicitId: message ?? undefined,
      },
      ...{ caller: caller ?? 'unknown', isNamed: caller !== null, occurredAt: startMs + ms },
      noteRecorded: () => {},
    }));
    const target = { store: this.#store, clock: { now: () => nowMs } };
    await recordTelemetry(target, 'key', this.project, { queries, id: 'question', nowMs });
  }

  async #correct(
    what: { withdraw: number } | { rename: number; to: string } | { undo: number },
    nowMs: number,
  ): Promise<void> {
    const common = { id: `c${this.#steps}`, reason: 'a law' };
    const ids = (await this.#store.counts.readQueries(this.project, undefined, 100)).map(({ id }) => id);
    const pick = (from: readonly string[], number: number) => from[number % Math.max(from.length, 1)];
    const correction = 'undo' in what ? pick(this.#corrections, what.undo) : undefined;
    const id = pick(ids, 'rename' in what ? what.rename : 'withdraw' in what ? what.withdraw : 0);
    if (('undo' in what ? correction : id) === undefined) return;
    const selection = { ids: [id ?? ''] };
    const request: CorrectionRequest =
      correction !== undefined
        ? { ...common, action: 'undo', correction }
        : 'rename' in what
          ? { ...common, action: 'rename', selection, to: what.to }
          : { ...common, action: 'withdraw', selection };
    await this.#store.corrections.accept(this.project, request, { ...by, at: nowMs });
    while ((await this.#store.corrections.step(this.project, nowMs, 2)) !== undefined);
    if (correction === undefined) this.#corrections.push(common.id);
    else this.#corrections.splice(this.#corrections.indexOf(correction), 1);
  }
}

const calendar = { timeZone: UTC, weekStart: 'monday', caller: undefined, compared: undefined } as const;

const ranges: readonly DateRange[] = [
  ALL_TIME,
  { from: startMs, to: startMs + dayMs },
  { from: startMs + quarterHourMs, to: startMs + 4 * dayMs },
];

/** The counts of then, and what the changes add up to. */
async function expectKnown(store: Store, { project, model }: Run, day: number): Promise<void> {
  const asOf = day * dayMs;
  const then = model.at(day);
  for (const range of ranges) {
    const asked = { ...calendar, range };
    const callersThen = await CALLERS.read(store, project, { ...asked, asOf });
    expect(callersThen).toEqual(recountCallers(then, range));
    const before = await CALLER_STATS.read(store, project, { ...asked, asOf });
    const now = await CALLER_STATS.read(store, project, asked);
    const changes = await CHANGES.read(store, project, { ...asked, since: asOf });
    expect(changes).toMatchObject({ before, now });
    await expectSum(changes, callersThen.callers, (await CALLERS.read(store, project, asked)).callers);
  }
  const bySeries = { ...calendar, range: ALL_TIME, interval: 'hour', byCaller: true, asOf } as const;
  const { buckets, callers: named = [] } = await SERIES.read(store, project, bySeries);
  const totals = buckets.map(({ start, end }) => {
    return recountCallers(then, { from: Date.parse(start), to: Date.parse(end) }).total;
  });
  expect(buckets.map(({ total }) => total)).toEqual(totals);
  const total = (numbers: readonly number[]) => numbers.reduce((sum, one) => sum + one, 0);
  expect([total(totals), total(named.map(({ count }) => count))]).toEqual([then.length, then.length]);
}

/** What was exported and imported gives the same answers of every day. */
async function expectCarried(
  [one, other]: readonly [Store, Store],
  { project, model: { day: last } }: Pick<Run, 'project'> & { readonly model: { readonly day: number } },
  copy: string,
): Promise<void> {
  const text = await exported(one, project, 'ndjson');
  await imported(other, copy, text, 'ndjson');
  expect(await exported(other, copy, 'ndjson')).toBe(text);
  for (let day = startDay; day <= last; day++)
    for (const range of ranges) {
      const asked = { ...calendar, range, asOf: day * dayMs };
      expect(await askOrRefuse(other, copy, asked)).toEqual(await askOrRefuse(one, project, asked));
    }
}

/** Refusals name times, which need not be those of the original. */
function askOrRefuse(store: Store, project: string, asked: Parameters<typeof CALLERS.read>[2]) {
  return CALLERS.read(store, project, asked).catch((error: { code?: string }) => error.code);
}

async function expectSum(
  { changes, difference }: Changes,
  ...[then, now]: readonly (readonly { caller: string; count: number }[])[]
): Promise<void> {
  const sums = new Map((then ?? []).map(({ caller, count }) => [caller, count]));
  const types = { web: 0, api: 0, other: 0 };
  for (const { caller, count } of changes) {
    sums.set(caller, (sums.get(caller) ?? 0) + count);
    types[callerType(caller)] += count;
  }
  const left = [...sums].filter(([, count]) => count !== 0);
  expect(new Map(left)).toEqual(new Map((now ?? []).map(({ caller, count }) => [caller, count])));
  expect(difference).toMatchObject(types);
}

describe.each(placeFactories)('%s', (kind, factory) => {
  const law = lawParameters(kind);
  // Fewer runs, because each one waits for the disk many times.
  const parameters = { ...law, numRuns: Math.ceil(law.numRuns / 8) };

  test('as of any day and all changes since are now, whatever was recorded, imported and corrected when', async () => {
    const { handles, newProject } = await openTwo(factory);
    await fc.assert(
      fc.asyncProperty(fc.array(event, { minLength: 6, maxLength: 20 }), async (events) => {
        const run = new Run(handles[0], await newProject());
        const { project, model } = run;
        for (const [at, what] of events.entries()) await run.perform(what, `c${at}`);
        for (let day = startDay; day <= model.day; day++) {
          if (!model.unclear.has(day)) {
            await expectKnown(handles[1], run, day);
            continue;
          }
          const refused = CHANGES.read(handles[1], project, {
            ...calendar,
            range: ALL_TIME,
            since: day * dayMs,
          });
          await expect(refused).rejects.toMatchObject({
            details: [expect.stringContaining('being carried out')],
          });
        }
        await run.finish();
        await expectCarried(handles, run, await newProject());
        await handles[0].directory.deleteProject(org, project, by);
        await purgeAll(handles[1]);
        const gone = CHANGES.read(handles[1], project, { ...calendar, range: ALL_TIME, since: startMs });
        await expect(gone).rejects.toMatchObject({ code: 'not_found' });
      }),
      parameters,
    );
  });

  test('as of any day is what was answered then, whatever telemetry tells of queries that are corrected', async () => {
    const { handles, newProject } = await openTwo(factory);
    await fc.assert(
      fc.asyncProperty(fc.array(seenEvent, { minLength: 8, maxLength: 24 }), async (events) => {
        const seen = new Seen(handles[0], await newProject());
        for (const what of events) await seen.perform(what);
        const now = await seen.answer();
        for (const [day, answers] of seen.answers)
          for (const [at, range] of ranges.entries()) {
            const asked = { ...calendar, range };
            const then = await CALLERS.read(handles[1], seen.project, { ...asked, asOf: day * dayMs });
            expect(then).toEqual(answers[at]);
            const changes = await CHANGES.read(handles[1], seen.project, { ...asked, since: day * dayMs });
            await expectSum(changes, then.callers, now[at]?.callers ?? []);
          }
        const of = { project: seen.project, model: { day: Math.max(startDay, ...seen.answers.keys()) } };
        await expectCarried(handles, of, await newProject());
      }),
      { numRuns: Math.ceil(law.numRuns / (isDeep ? 2 : 6)) },
    );
  });
});
