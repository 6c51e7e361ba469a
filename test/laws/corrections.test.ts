/** Property of corrections: any history of them beside recording, imports, retention and crashes equals a naive recount. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Correction, CorrectionRequest, Selection } from '../../src/domain/corrections/correction.js';
import { countFigures } from '../../src/domain/corrections/figures.js';
import { ALL_TIME } from '../../src/domain/counting/date-range.js';
import { DEFAULT_ORGANIZATION_ID } from '../../src/domain/projects/organization.js';
import type { Query } from '../../src/domain/queries/query.js';
import { dayMs } from '../../src/domain/time/duration.js';
import type { Store } from '../../src/storage/ports/store.js';
import { by, placeFactories, purgeAll } from '../support/storage/store.js';
import { expectCounted, lawParameters, openTwo } from './events.js';
import { exported, imported } from './round-trip.js';

const org = DEFAULT_ORGANIZATION_ID;
const startDay = 20_477;
const startMs = startDay * dayMs;
const callers = ['web', 'api', 'slak', 'slack'] as const;
const idsMax = 20;

const query = fc.record({
  number: fc.nat(idsMax - 1),
  caller: fc.constantFrom(...callers),
  /** Few times, so that queries share counters at every level. */
  ms: fc.constantFrom(0, 1, 9_999, 10_000, 900_000, dayMs - 1, dayMs, 3 * dayMs),
  /** Nobody knows how some arrived. */
  sender: fc.constantFrom('key:one', 'telemetry:one:shop', 'import:old.csv', ''),
  day: fc.constantFrom(startDay, startDay + 1),
});

const selection = fc.oneof(
  fc.record({ ids: fc.uniqueArray(fc.nat(idsMax - 1), { minLength: 1, maxLength: 6 }) }),
  fc.record({
    caller: fc.option(fc.constantFrom(...callers)),
    to: fc.constantFrom(startMs + 99 * dayMs, startMs + 1, startMs + dayMs),
    sender: fc.option(fc.constantFrom('key:one', 'telemetry:shop', 'import', 'unknown'), {
      nil: undefined,
    }),
    day: fc.option(fc.constant(startDay + 1), { nil: undefined }),
  }),
);

const event = fc.oneof(
  { weight: 4, arbitrary: fc.record({ record: fc.array(query, { minLength: 1, maxLength: 8 }) }) },
  { weight: 2, arbitrary: fc.record({ withdraw: selection }) },
  { weight: 2, arbitrary: fc.record({ rename: selection, to: fc.constantFrom('web', 'slack', 'bot') }) },
  { weight: 2, arbitrary: fc.record({ undo: fc.nat(8) }) },
  /** Few steps leave a correction unfinished, as a crash does. */
  {
    weight: 5,
    arbitrary: fc.record({ steps: fc.integer({ min: 1, max: 6 }), limit: fc.integer({ min: 1, max: 4 }) }),
  },
);

const history = fc.array(fc.tuple(fc.nat(1), event), { minLength: 4, maxLength: 16 });

type Event = typeof event extends fc.Arbitrary<infer T> ? T : never;

interface Known extends Query {
  readonly day: number;
  readonly sender: string;
  /** The place of the correction before which it was recorded. */
  readonly at: number;
}

interface Applied {
  readonly request: CorrectionRequest;
  readonly matched: ReadonlySet<string>;
  /** The id of the correction that undoes it. */
  undoneBy?: string;
}

/** What should be so: each query with the corrections that concern it, in the order of the corrections. */
class Model {
  readonly queries = new Map<string, Known>();
  readonly corrections = new Map<string, Applied>();
  #waiting: [request: CorrectionRequest, at: number][] = [];
  place = 0;

  accept(request: CorrectionRequest): void {
    this.#waiting.push([request, ++this.place]);
    this.#carryOut();
  }

  /** For whom a query counts after these corrections; undefined if it does not. */
  callerOf({ id, caller }: Known, isDone: (correction: string) => boolean = () => true): string | undefined {
    let now: string | undefined = caller;
    for (const { request, matched, undoneBy } of this.corrections.values()) {
      const isUndone = undoneBy !== undefined && isDone(undoneBy);
      if (isUndone || !isDone(request.id) || !matched.has(id) || now === undefined) continue;
      if (request.action === 'withdraw') now = undefined;
      else if (request.action === 'rename') now = request.to;
    }
    return now;
  }

  /** Corrections are carried out in order, so it makes no difference when. */
  #carryOut(): void {
    for (const [request, at] of this.#waiting) {
      if (request.action === 'undo') {
        const undone = this.corrections.get(request.correction);
        if (undone !== undefined) undone.undoneBy = request.id;
        continue;
      }
      const { selection: selected } = request;
      const to = request.action === 'rename' ? request.to : undefined;
      const matched = [...this.queries.values()].filter((one) => this.#matches(one, selected, at, to));
      this.corrections.set(request.id, { request, matched: new Set(matched.map(({ id }) => id)) });
    }
    this.#waiting = [];
  }

  #matches(one: Known, selected: Selection, at: number, to?: string): boolean {
    const caller = this.callerOf(one);
    if (caller === undefined || one.at >= at) return false;
    // A correction concerns what it changes.
    if (to === caller) return false;
    if ('ids' in selected) return selected.ids.includes(one.id);
    if ('source' in selected) return false;
    const { sender, from } = selected.receipts;
    const isOfSender = {
      'key:one': one.sender !== '' && !one.sender.startsWith('import'),
      import: one.sender.startsWith('import'),
      unknown: one.sender === '',
    };
    return (
      one.occurredAt < selected.range.to &&
      (selected.caller === null || caller === selected.caller) &&
      (from === undefined || (one.sender !== '' && one.day >= from)) &&
      (sender === undefined ||
        (isOfSender[sender as keyof typeof isOfSender] ?? one.sender === 'telemetry:one:shop'))
    );
  }

  counted(isDone?: (correction: string) => boolean): Query[] {
    return [...this.queries.values()].flatMap((one) => {
      const caller = this.callerOf(one, isDone);
      return caller === undefined ? [] : [{ id: one.id, caller, occurredAt: one.occurredAt }];
    });
  }
}

const idOf = (number: number): string =>
  number % 2 === 0 ? `id ${number}` : `0190a8b2-7c3e-7d4f-8a5b-${String(number).padStart(12, '0')}`;

interface Run {
  readonly project: string;
  readonly model: Model;
  /** Of the corrections that are not undone, and were accepted. */
  readonly ids: string[];
}

async function record(
  store: Store,
  { project, model }: Run,
  batch: (typeof query extends fc.Arbitrary<infer T> ? T : never)[],
) {
  const sent = batch.map(({ number, caller, ms, sender, day }) => ({
    ...{ id: idOf(number), caller, occurredAt: startMs + ms },
    receipt: sender === '' ? null : { day, sender },
  }));
  const { recorded } = await store.counts.record(project, sent);
  const before = model.queries.size;
  for (const { receipt, ...one } of sent)
    if (!model.queries.has(one.id))
      model.queries.set(one.id, { ...one, day: 0, sender: '', ...receipt, at: model.place });
  expect(recorded).toBe(model.queries.size - before);
}

function toRequest(what: Event, id: string, { ids }: Run): CorrectionRequest | undefined {
  const reason = 'a law';
  if ('undo' in what) {
    const correction = ids[what.undo % Math.max(ids.length, 1)];
    return correction === undefined ? undefined : { id, reason, action: 'undo', correction };
  }
  const toSelection = (drawn: typeof selection extends fc.Arbitrary<infer T> ? T : never): Selection =>
    'ids' in drawn
      ? { ids: drawn.ids.map(idOf) }
      : {
          caller: drawn.caller,
          range: { from: ALL_TIME.from, to: drawn.to },
          receipts: { from: drawn.day, to: undefined, sender: drawn.sender },
        };
  if ('withdraw' in what) return { id, reason, action: 'withdraw', selection: toSelection(what.withdraw) };
  // What nobody can ask for.
  if ('rename' in what && 'caller' in what.rename && what.rename.caller === what.to) return undefined;
  if ('rename' in what)
    return { id, reason, action: 'rename', selection: toSelection(what.rename), to: what.to };
  return undefined;
}

/** Takes steps until no correction is left. */
async function finish(store: Store, project: string): Promise<void> {
  while ((await store.corrections.step(project, startMs, 3)) !== undefined);
}

/** Accepts a correction as soon as the store does: an undo waits until what it undoes is finished. */
async function accept(store: Store, run: Run, request: CorrectionRequest): Promise<void> {
  if (request.action === 'undo') await finish(store, run.project);
  let accepted: Correction;
  try {
    accepted = await store.corrections.accept(run.project, request, by);
  } catch (error) {
    // Ids that are unknown, or a correction that was undone.
    expect(error).toMatchObject({ code: 'invalid' });
    return;
  }
  expect(await store.corrections.accept(run.project, request, by)).toEqual(accepted);
  run.model.accept(request);
  if (request.action === 'undo') run.ids.splice(run.ids.indexOf(request.correction), 1);
  else run.ids.push(request.id);
}

async function perform(store: Store, run: Run, what: Event, id: string): Promise<void> {
  if ('record' in what) return record(store, run, what.record);
  if ('steps' in what) {
    for (let at = 0; at < what.steps; at++) await store.corrections.step(run.project, startMs, what.limit);
    return;
  }
  const request = toRequest(what, id, run);
  if (request !== undefined) await accept(store, run, request);
}

const ranges = [ALL_TIME, { from: startMs + 1, to: startMs + dayMs + 1 }];
const edges = [startMs, startMs + 1, startMs + 10_000, startMs + 900_001, startMs + 4 * dayMs];

/** Whatever a cache keeps, it must not keep too long. */
async function fillCaches(store: Store, project: string): Promise<void> {
  for (let times = 0; times < 40; times++)
    for (const range of ranges) await store.counts.count(project, range);
}

async function expectSound(store: Store): Promise<void> {
  expect(await store.maintenance.verify()).toMatchObject({ differences: [], differencesTotal: 0 });
}

async function expectFigures(store: Store, { project, model }: Run): Promise<void> {
  for (const { request, figures } of await store.corrections.listCorrections(project, undefined, 100)) {
    const matched = model.corrections.get(request.id)?.matched;
    if (request.action === 'withdraw') expect(countFigures(figures).total).toBe(matched?.size);
  }
}

const undoOf = (correction: string): CorrectionRequest => {
  return { id: `undo ${correction}`, reason: 'a law', action: 'undo', correction };
};

/** Takes the project away, as finished corrections have made it, and gives it to an empty one. Returns that. */
async function takeAway(store: Store, { project, model }: Run, copy: string): Promise<void> {
  const done = await store.corrections.listFinished(project, 0, 100);
  const text = await exported(store, project, 'ndjson');
  await imported(store, copy, text, 'ndjson');
  const isDone = (id: string) => done.some(({ request }) => request.id === id);
  await expectCounted(store, copy, model.counted(isDone), ranges, edges);
  expect(await exported(store, copy, 'ndjson')).toBe(text);
  const list = await store.corrections.listCorrections(copy, undefined, 100);
  const listed = await store.corrections.listCorrections(project, undefined, 100);
  const expected = listed.filter(({ request }) => isDone(request.id));
  expect(list).toEqual(
    expected.map((one) => (isDone(one.undoneBy ?? '') ? one : { ...one, undoneBy: null })),
  );
  const known = [...model.queries.values()].map(({ id, caller, occurredAt }) => ({ id, caller, occurredAt }));
  expect(await store.counts.record(copy, known)).toMatchObject({ recorded: 0 });
}

/** Undoes all that is not undone, after which everything counts as it was recorded. */
async function undoAll([store, other]: readonly [Store, Store], place: string, { ids, model }: Run) {
  for (const correction of ids.toReversed()) await other.corrections.accept(place, undoOf(correction), by);
  await finish(store, place);
  await expectCounted(other, place, [...model.queries.values()], ranges, edges);
}

describe.each(placeFactories)('%s', (kind, factory) => {
  const law = lawParameters(kind);
  // Fewer runs, because each one waits for the disk many times.
  const parameters = { ...law, numRuns: Math.ceil(law.numRuns / 4) };

  test('any history of corrections equals a naive recount, survives export and import, and undoing all of them restores every answer', async () => {
    const { handles, newProject } = await openTwo(factory);
    await fc.assert(
      fc.asyncProperty(history, async (events) => {
        const run: Run = { project: await newProject(), model: new Model(), ids: [] };
        const { project, model } = run;
        for (const [at, [handle, what]] of events.entries())
          await perform(handles[handle === 0 ? 0 : 1], run, what, `c${at}`);
        // In the middle of a correction, counters are right as well.
        await expectSound(handles[0]);
        await fillCaches(handles[1], project);
        const early = await newProject();
        await takeAway(handles[1], run, early);
        await finish(handles[0], project);
        await expectCounted(handles[1], project, model.counted(), ranges, edges);
        await expectFigures(handles[1], run);
        await fillCaches(handles[1], project);
        const copy = await newProject();
        await takeAway(handles[0], run, copy);
        for (const place of [project, copy]) await undoAll(handles, place, run);
        await expectSound(handles[0]);
        for (const place of [project, copy, early]) await handles[0].directory.deleteProject(org, place, by);
        await purgeAll(handles[1]);
      }),
      parameters,
    );
  });
});
