/** Properties of a move between two stores while spans of the same traces reach both of them. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { difference } from '../../src/app/copy/proof.js';
import { type CopiedProject, copyStock } from '../../src/app/copy/run.js';
import type { Side } from '../../src/app/copy/side.js';
import { recordTelemetry } from '../../src/app/record-telemetry.js';
import { ALL_TIME } from '../../src/domain/counting/date-range.js';
import type { FoundFacts } from '../../src/domain/queries/found-queries.js';
import type { Store } from '../../src/storage/ports/store.js';
import { anyFact } from '../support/found-facts.js';
import { traceId } from '../support/http/telemetry.js';
import { IdentityMemory } from '../support/identity-memory.js';
import { by, placeFactories, projectOf } from '../support/storage/store.js';
import { isDeep } from '../support/volume.js';
import {
  type AskedRequest,
  anyRequests,
  arrivalOf,
  countAtMost,
  countQueries,
  firstOfTraces,
  Node,
  namedRequests,
  nowMs,
  plainRequests,
  recordsOfGateway,
  toRecords,
} from './asked-requests.js';
import { lawParameters } from './events.js';

const clock = { now: () => nowMs };
const progress = { advance: () => {}, show: () => {}, note: () => {} };

const sideOf = (name: string, store: Store): Side => ({ name, ask: (work) => work(store) });

async function copy(from: Store, to: Store, projectId: string): Promise<CopiedProject | undefined> {
  const project = projectOf(projectId);
  const left = { invitations: 0, shareLinks: 0, notifications: 0 };
  const stock = { organizations: [], members: [], keys: new Map(), projects: [project], queries: 0, left };
  const io = { clock, randomInt: () => 0 };
  const { projects } = await copyStock(stock, sideOf('source', from), sideOf('target', to), io, progress);
  return projects[0];
}

function receive(store: Store, projectId: string, facts: readonly FoundFacts[]) {
  const queries = facts.map((fact) => ({ ...fact, noteRecorded: () => {} }));
  return recordTelemetry({ store, clock }, 'key', projectId, { queries, id: 'question', nowMs });
}

async function countsOf(store: Store, projectId: string): Promise<Record<string, number>> {
  const { callers } = await store.counts.countCallers(projectId, ALL_TIME);
  return Object.fromEntries(callers.map(({ caller, count }) => [caller, count]));
}

function* ordersOf<One>(all: readonly One[]): Generator<readonly One[]> {
  if (all.length < 2) yield all;
  else
    for (const [at, first] of all.entries())
      for (const rest of ordersOf(all.toSpliced(at, 1))) yield [first, ...rest];
}

/** How many queries one server may count of these facts, whichever of them comes first. */
function countsInAnyOrder(facts: readonly FoundFacts[]): Set<number> {
  const counts = new Set<number>();
  for (const order of ordersOf(facts)) {
    const memory = new IdentityMemory();
    for (const fact of order) memory.record([fact]);
    counts.add(memory.callers().length);
  }
  return counts;
}

async function actAt(
  place: string,
  fact: FoundFacts,
  { source, target, moved }: { readonly source: Store; readonly target: Store; readonly moved: string },
): Promise<void> {
  const [side, then] = place.split(', ');
  await receive(side === 'source' ? source : target, moved, [fact]);
  if (then === 'copy') await copy(source, target, moved);
}

/** What happens at each side, with copies between. */
const stepsOf = (facts: readonly FoundFacts[]) =>
  fc
    .array(fc.constantFrom('source', 'source, copy', 'target', 'target, copy'), {
      minLength: facts.length,
      maxLength: facts.length,
    })
    .map((places) => ({ facts, places }));

/**
 * Each request with a trace and an answer of its own. Of two that share one, each side may have found one, and taken it for that
 * of all.
 */
const apart = (requests: fc.Arbitrary<AskedRequest[]>) =>
  requests
    .map((all) => all.map((one, trace) => ({ ...one, trace, hasAnswer: false })))
    .chain((all) => arrivalOf(all, { inOrderOfPaths: false }));

const factories = placeFactories.filter(
  ([kind], at) => isDeep || kind === 'sqlite' || at === placeFactories.length - 1,
);
const directions = factories.flatMap(([one, from]) =>
  factories.map(
    ([other, to]) => [`from ${one} to ${other}`, { from, to, kinds: `${one} ${other}` }] as const,
  ),
);

describe.each(directions)('a copy %s', (_, { from, to, kinds }) => {
  const { numRuns, ...parameters } = lawParameters(kinds === 'sqlite sqlite' ? 'sqlite' : '');
  const openTwo = async () => {
    const [source, target] = [await (await from()).open(), await (await to('new')).open()];
    let projects = 0;
    const newProject = async (): Promise<string> => {
      const id = `run-${projects++}`;
      for (const store of [source, target]) await store.directory.createProject(projectOf(id), by);
      return id;
    };
    return { source, target, newProject };
  };
  type Opened = Awaited<ReturnType<typeof openTwo>>;

  async function expectAlways<Sent>(
    sent: fc.Arbitrary<Sent>,
    law: (sent: Sent, opened: Opened) => Promise<void>,
  ) {
    const opened = await openTwo();
    await fc.assert(
      fc.asyncProperty(sent, (one) => law(one, opened)),
      { ...parameters, numRuns: Math.ceil(numRuns / 5) },
    );
    for (const store of [opened.source, opened.target])
      expect(await store.maintenance.verify()).toMatchObject({ damage: [], differencesTotal: 0 });
  }

  test('counts what arrives before and after it as one server does', async () => {
    const facts = fc
      .array(anyFact, { minLength: 2, maxLength: 6 })
      .map((all) => all.filter(({ keys }) => keys.isRequest !== true || keys.explicitId === undefined));
    const moves = fc.record({
      before: facts,
      after: facts,
      copies: fc.array(fc.boolean(), { maxLength: 6 }),
    });
    await expectAlways(moves, async ({ before, after, copies }, { source, target, newProject }) => {
      const [moved, whole] = [await newProject(), await newProject()];
      for (const [at, fact] of before.entries()) {
        await receive(source, moved, [fact]);
        if (copies[at]) await copy(source, target, moved);
      }
      await copy(source, target, moved);
      for (const fact of after) await receive(target, moved, [fact]);
      for (const fact of [...before, ...after]) await receive(target, whole, [fact]);
      const counts = await countsOf(target, whole);
      expect(await countsOf(target, moved)).toEqual(counts);
      await copy(source, target, moved);
      expect(await countsOf(target, moved)).toEqual(counts);
    });
  });

  test('counts what reaches both sides as one server may', async () => {
    const facts = fc.array(anyFact, { minLength: 2, maxLength: 4 });
    const moves = facts.map((all) => all.filter(({ keys }) => keys.isRequest !== true)).chain(stepsOf);
    await expectAlways(moves, async ({ facts, places }, { source, target, newProject }) => {
      const moved = await newProject();
      for (const [at, fact] of facts.entries())
        await actAt(places[at] ?? 'source', fact, { source, target, moved });
      for (let times = 0; times < 2; times++) {
        await copy(source, target, moved);
        const { total } = await target.counts.count(moved, ALL_TIME);
        expect(countsInAnyOrder(facts)).toContain(total);
      }
      if (facts.some(({ keys }) => keys.isIgnored)) return;
      await copy(target, source, moved);
      const { total } = await target.counts.count(moved, ALL_TIME);
      expect(await source.counts.count(moved, ALL_TIME)).toMatchObject({ total });
    });
  });

  test('says that queries of the source are the same if spans of the target show it', async () => {
    const { source, target, newProject } = await openTwo();
    const moved = await newProject();
    const found = (number: number, explicitId?: string): FoundFacts => ({
      keys: { traceId: traceId(number), service: 'docs', explicitId },
      ...{ caller: 'web', isNamed: true, occurredAt: nowMs },
    });
    for (const number of [1, 2, 3]) {
      await receive(source, moved, [found(number)]);
      await receive(target, moved, [found(number, 'a')]);
    }
    for (let times = 0; times < 2; times++) {
      const copied = await copy(source, target, moved);
      expect(copied).toMatchObject({ source: { total: 3 }, target: { total: 1 } });
      expect(copied && difference(copied)).toBe(
        `${moved}: the target has every query of the source, and knows by spans that 3 queries of them are the same as others`,
      );
    }
    await copy(target, source, moved);
    expect(await source.counts.count(moved, ALL_TIME)).toMatchObject({ total: 1 });
  });

  /** Requests whose records arrive at nodes of both sides, with copies between, until a node of the target has seen all. */
  const moveAll = async (
    requests: Parameters<typeof toRecords>[0],
    groups: readonly (readonly {
      readonly records: Parameters<Node['receive']>[0];
      readonly node: number;
    }[])[],
    { source, target, newProject }: Opened,
    first: Parameters<Node['receive']>[0] = [],
  ) => {
    const moved = await newProject();
    await new Node(source, moved).receive(first);
    if (first.length > 0) await copy(source, target, moved);
    const nodes = [new Node(source, moved), new Node(target, moved)];
    for (const [at, group] of groups.entries()) {
      for (const { records, node } of group) await nodes[node]?.receive(records);
      if (at % 2 === 1) await copy(source, target, moved);
    }
    await copy(source, target, moved);
    const { total: before } = await target.counts.count(moved, ALL_TIME);
    await new Node(target, moved).receive([...recordsOfGateway(requests), ...toRecords(requests)]);
    const { total } = await target.counts.count(moved, ALL_TIME);
    await copy(source, target, moved);
    expect(await target.counts.count(moved, ALL_TIME)).toMatchObject({ total });
    return { before, total };
  };

  test('never counts a request twice, and none of a trace of its own too little', async () => {
    const together = plainRequests.chain((sent) => arrivalOf(sent, { inOrderOfPaths: false }));
    await expectAlways(together, async ({ requests, groups }, opened) => {
      const { before, total } = await moveAll(requests, groups, opened);
      expect(Math.max(before, total)).toBeLessThanOrEqual(requests.length);
    });
    await expectAlways(apart(plainRequests), async ({ requests, groups }, opened) => {
      const { before, total } = await moveAll(requests, groups, opened);
      expect(before).toBeLessThanOrEqual(requests.length);
      expect(total).toBe(requests.length);
    });
  });

  test('counts messages by their ids once', async () => {
    await expectAlways(apart(namedRequests), async ({ requests, groups }, opened) => {
      const { total } = await moveAll(requests, groups, opened, recordsOfGateway(requests));
      expect(total).toBe(countQueries(requests));
    });
  });

  test('counts requests of which little is known as several nodes do', async () => {
    await expectAlways(apart(anyRequests), async ({ requests, groups }, opened) => {
      const { total } = await moveAll(requests, groups, opened, firstOfTraces(requests));
      expect(total).toBeGreaterThanOrEqual(countQueries(requests));
      expect(total).toBeLessThanOrEqual(countAtMost(requests));
    });
  });
});
