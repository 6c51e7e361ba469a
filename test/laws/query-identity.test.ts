/** Properties of queries in telemetry on every kind of store: records in any order, at once, on any node, repeated. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ALL_TIME } from '../../src/domain/counting/date-range.js';
import type { Store } from '../../src/storage/ports/store.js';
import { placeFactories } from '../support/storage/store.js';
import {
  type Arrival,
  anyRequests,
  arrivalOf,
  clearRequests,
  countAtMost,
  countQueries,
  deliver,
  deliverSplit,
  firstOfTraces,
  Node,
  namedRequests,
  plainRequests,
  recordsOfGateway,
  splitArrivals,
  toRecords,
} from './asked-requests.js';
import { lawParameters, openTwo, recountCallers } from './events.js';

/** So few that most paths to the server are forgotten. */
const fewSpans = 4;

const inAnyOrder = { inOrderOfPaths: false };

describe.each(placeFactories)('%s', (kind, factory) => {
  const { numRuns, ...parameters } = lawParameters(kind);

  /** Checks the law in a project for each run, and that the counters are sound in the end. */
  async function expectAlways<Sent = Arrival>(
    arrivals: fc.Arbitrary<Sent>,
    law: (arrival: Sent, project: string, handles: readonly [Store, Store]) => Promise<void>,
  ): Promise<void> {
    const { handles, newProject } = await openTwo(factory);
    await fc.assert(
      fc.asyncProperty(arrivals, async (arrival) => law(arrival, await newProject(), handles)),
      { ...parameters, numRuns: Math.ceil(numRuns / 5) },
    );
    expect(await handles[0].maintenance.verify()).toMatchObject({ damage: [], differencesTotal: 0 });
  }

  test('one node counts each message and each other request once, whatever arrives first or at once', async () => {
    const arrivals = clearRequests.chain((sent) => arrivalOf(sent, { inOrderOfPaths: true }));
    await expectAlways(arrivals, async (arrival, project, handles) => {
      const node = new Node(handles[0], project);
      await deliver([node], arrival);
      await node.receive(toRecords(arrival.requests));
      // The spans of the servers name the callers, whenever they arrive.
      const total = countQueries(arrival.requests);
      expect(await handles[1].counts.count(project, ALL_TIME)).toMatchObject({ web: total, total });
    });
  });

  test('a query gets the caller of its request, whichever of both arrives first, at whichever node, over restarts', async () => {
    await expectAlways(splitArrivals, async (arrival, project, handles) => {
      await deliverSplit(handles, project, arrival);
      const expected = arrival.requests.map(({ caller }) => ({ id: '', caller, occurredAt: 0 }));
      const counted = await handles[1].counts.countCallers(project, ALL_TIME);
      expect(counted).toEqual(recountCallers(expected, ALL_TIME));
    });
  });

  test('several nodes never count more, and all once one of them has seen all spans', async () => {
    const arrivals = plainRequests.chain((sent) => arrivalOf(sent, inAnyOrder));
    await expectAlways(arrivals, async (arrival, project, handles) => {
      const { requests } = arrival;
      const nodes = handles.map((store, at) => new Node(store, project, at === 0 ? fewSpans : undefined));
      await deliver(nodes, arrival);
      const { total } = await handles[1].counts.count(project, ALL_TIME);
      expect(total).toBeLessThanOrEqual(requests.length);
      const all = toRecords(requests);
      // A node that has just started, and then the first one again.
      await new Node(handles[1], project).receive(all);
      await nodes[0]?.receive(all.toReversed());
      expect(await handles[0].counts.count(project, ALL_TIME)).toMatchObject({ total: requests.length });
    });
  });

  test('messages whose id is on all calls count once, on any nodes, however little these remember', async () => {
    const arrivals = namedRequests.chain((sent) => arrivalOf(sent, inAnyOrder));
    await expectAlways(arrivals, async (arrival, project, handles) => {
      const nodes = handles.map((store) => new Node(store, project, fewSpans));
      await nodes[0]?.receive(recordsOfGateway(arrival.requests));
      await deliver(nodes, arrival);
      await nodes[1]?.receive([...recordsOfGateway(arrival.requests), ...toRecords(arrival.requests)]);
      const { total } = await handles[0].counts.count(project, ALL_TIME);
      expect(total).toBe(countQueries(arrival.requests));
    });
  });

  test('no query is lost, and none counts again, however little is known of it', async () => {
    const arrivals = anyRequests.chain((sent) => arrivalOf(sent, inAnyOrder));
    await expectAlways(arrivals, async (arrival, project, handles) => {
      const { requests } = arrival;
      const newNodes = () => handles.map((store) => new Node(store, project, fewSpans));
      // A trace belongs to the service that is heard of first: otherwise, that of a sub-agent.
      await new Node(handles[0], project).receive(firstOfTraces(requests));
      await deliver(newNodes(), arrival);
      await new Node(handles[1], project).receive(toRecords(requests));
      const { total } = await handles[1].counts.count(project, ALL_TIME);
      expect(total).toBeGreaterThanOrEqual(countQueries(requests));
      expect(total).toBeLessThanOrEqual(countAtMost(requests));
      await deliver(newNodes(), arrival);
      expect(await handles[0].counts.count(project, ALL_TIME)).toMatchObject({ total });
    });
  });
});
