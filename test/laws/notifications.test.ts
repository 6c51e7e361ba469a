/**
 * Properties of notifications on every kind of store: any number of nodes that check and send at any times, crash anywhere in
 * between, and meet receivers that fail. Compared with a naive model that looks at each week and each moment by itself.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Notifier } from '../../src/app/jobs/notifier.js';
import { Channels, type Sending } from '../../src/app/notifications/channels/channels.js';
import { Poster } from '../../src/app/notifications/channels/poster.js';
import { messageDaysMax, messageLeaseMs } from '../../src/domain/limits.js';
import { type Delivery, messageRetryMs } from '../../src/domain/notifications/delivery.js';
import type { Notification } from '../../src/domain/notifications/notification.js';
import { firstCheck } from '../../src/domain/notifications/schedule.js';
import { dayMs, hourMs, minuteMs } from '../../src/domain/time/duration.js';
import { UTC } from '../../src/domain/time/time-zone.js';
import type { Store } from '../../src/storage/ports/store.js';
import { notificationOf } from '../support/storage/notifications.js';
import { by, placeFactories } from '../support/storage/store.js';
import { lawParameters, openTwo } from './events.js';

/** A Monday in 2026, 00:00 UTC. */
const startMs = Date.UTC(2026, 0, 5);
const silentHours = 3;

/** Where a node stops for good: before or after it has told the store what it did. */
type Crash = 'none' | 'before check' | 'after check' | 'after claim' | 'after sending';

interface Step {
  readonly afterMs: number;
  /** Whether a query is recorded first. */
  readonly records: boolean;
  /** The nodes that run at once. The last one is always sound. */
  readonly crashes: readonly Crash[];
  readonly receiverFails: boolean;
}

const crash = fc.constantFrom<Crash>('none', 'before check', 'after check', 'after claim', 'after sending');

const steps = fc.array(
  fc.record<Step>({
    afterMs: fc.oneof(
      fc.integer({ min: 0, max: 20 * minuteMs }),
      fc.integer({ min: 0, max: 12 * hourMs }),
      fc.integer({ min: 0, max: 9 * dayMs }),
    ),
    records: fc.boolean(),
    crashes: fc.array(crash, { maxLength: 3 }),
    receiverFails: fc.boolean(),
  }),
  { minLength: 1, maxLength: 12 },
);

class CrashedError extends Error {}

/** A receiver that keeps what it accepts. */
class Receiver extends Channels {
  readonly accepted: { readonly id: string; readonly message: string }[] = [];
  readonly refused: { readonly id: string; readonly message: string }[] = [];
  fails = false;

  constructor() {
    super(new Poster([]), undefined);
  }

  override async send(_channel: Notification['channel'], { id, message }: Sending): Promise<void> {
    const sent = { id, message: JSON.stringify(message) };
    (this.fails ? this.refused : this.accepted).push(sent);
    if (this.fails) throw new Error('the receiver fails');
  }
}

/** A node that crashes at a place. A node that has crashed says nothing more to the store. */
function startNode(store: Store, channels: Channels, nowMs: () => number, crashes: Crash): Notifier {
  let isDead = false;
  const die = (place: Crash): void => {
    isDead ||= place === crashes;
    if (isDead) throw new CrashedError(place);
  };
  const { notifications } = store;
  const guarded: Partial<Store['notifications']> = {
    endCheck: async (...args) => {
      die('before check');
      const ended = await notifications.endCheck(...args);
      die('after check');
      return ended;
    },
    claim: async (...args) => {
      if (isDead) throw new CrashedError(crashes);
      const claimed = await notifications.claim(...args);
      if (claimed.length > 0) die('after claim');
      return claimed;
    },
    endAttempt: async (...args) => {
      die('after sending');
      return notifications.endAttempt(...args);
    },
  };
  const own = new Proxy(notifications, {
    get: (part, name) => Reflect.get(guarded, name) ?? Reflect.get(part, name).bind(part),
  });
  return new Notifier({
    store: {
      notifications: own,
      directory: store.directory,
      counts: store.counts,
      ingestion: store.ingestion,
    },
    clock: { now: nowMs },
    channels,
    seal: { seal: async (text) => text, open: async (text) => text, isOutdated: async () => false },
    linkTo: () => undefined,
    warn: () => {},
  });
}

/** What a naive reader of the calendar expects: the weeks that ended before any moment at which somebody looked. */
function weeksReported(moments: readonly number[]): string[] {
  const weeks = moments.flatMap((nowMs) => {
    let monday = startMs - 14 * dayMs;
    const dueAt = () => monday + 7 * dayMs + 6 * hourMs;
    while (dueAt() + 7 * dayMs <= nowMs) monday += 7 * dayMs;
    // Digests that were due before the notification was made are not sent.
    return dueAt() <= startMs ? [] : [`week from ${new Date(monday).toISOString()}`];
  });
  return [...new Set(weeks)];
}

/** What a naive reader expects of silence: whether there was a query within the hours before each moment. */
function silencesReported(
  moments: readonly { readonly nowMs: number; readonly queries: number[] }[],
): string[] {
  let silentSince: string | undefined;
  let checked = 0;
  const reported: string[] = [];
  for (const { nowMs, queries } of moments) {
    const at = Math.floor(nowMs / (10 * minuteMs)) * 10 * minuteMs;
    if (at < startMs + silentHours * hourMs || at <= checked) continue;
    checked = at;
    const isSilent = !queries.some((one) => one >= at - silentHours * hourMs && one < at);
    if (isSilent && silentSince === undefined) {
      silentSince = new Date(at).toISOString();
      reported.push(`silence at ${silentSince}`);
    } else if (!isSilent && silentSince !== undefined) {
      reported.push(`end of silence at ${silentSince}`);
      silentSince = undefined;
    }
  }
  return reported;
}

/** A project with a digest and an alert of silence, the nodes that look after them, and their receiver. */
class Scene {
  readonly receiver = new Receiver();
  /** Every moment at which nodes looked, with the queries until then. */
  readonly moments: { readonly nowMs: number; readonly queries: number[] }[] = [];
  /** Every delivery as it was last listed: the store lists one for `messageDaysMax` days after it ended. */
  readonly deliveries = new Map<string, Delivery>();
  readonly projectId: string;
  readonly #handles: readonly Store[];
  readonly #queries: number[] = [];
  #nowMs = startMs;
  /** Nodes that crash between the receiver and the store: each may make another one send a message again. */
  crashedAfterSending = 0;

  constructor(handles: readonly Store[], projectId: string) {
    this.#handles = handles;
    this.projectId = projectId;
  }

  get store(): Store {
    return this.#handles[0] as Store;
  }

  async create(): Promise<void> {
    const { projectId } = this;
    const silence = { kind: 'silence', period: null, hours: silentHours, timeZone: UTC } as const;
    for (const [name, more] of Object.entries({ digest: {}, silence })) {
      const one = notificationOf(`${projectId} ${name}`, { projectId, destination: '{"to":"x"}', ...more });
      await this.store.notifications.create({ ...one, checkAt: firstCheck(one, null, startMs) }, by);
    }
  }

  async remove(): Promise<void> {
    for (const name of ['digest', 'silence'])
      await this.store.notifications.remove('default', `${this.projectId} ${name}`, by);
  }

  async pass({ afterMs, records, crashes, receiverFails }: Step): Promise<void> {
    this.#nowMs += afterMs;
    if (records) {
      this.#queries.push(this.#nowMs);
      const query = { id: `q${this.#queries.length}`, caller: 'web', occurredAt: this.#nowMs };
      await this.store.counts.record(this.projectId, [query]);
    }
    this.receiver.fails = receiverFails;
    await this.#runNodes(crashes);
  }

  /** As long as messages may be tried again; nothing fails any more. */
  async settle(): Promise<void> {
    for (const afterMs of [messageLeaseMs, ...messageRetryMs])
      await this.pass({ afterMs, records: false, crashes: [], receiverFails: false });
  }

  async #runNodes(crashes: readonly Crash[]): Promise<void> {
    const now = (): number => this.#nowMs;
    const nodes = [...crashes, 'none' as const].map((one, at) =>
      startNode(this.#handles[at % this.#handles.length] as Store, this.receiver, now, one),
    );
    this.crashedAfterSending += crashes.filter((one) => one === 'after sending').length;
    for (const one of await Promise.allSettled(nodes.map((node) => node.run())))
      if (one.status === 'rejected' && !(one.reason instanceof CrashedError)) throw one.reason;
    this.moments.push({ nowMs: this.#nowMs, queries: [...this.#queries] });
    await this.#listDeliveries();
  }

  async #listDeliveries(): Promise<void> {
    const listed = await this.store.notifications.listDeliveries('default', this.projectId, 1000);
    for (const delivery of listed) this.deliveries.set(delivery.id, delivery);
    const keptSince = this.#nowMs - messageDaysMax * dayMs;
    const kept = [...this.deliveries.values()].filter(
      ({ finishedAt }) => finishedAt === null || finishedAt >= keptSince,
    );
    expect(listed.map(({ id }) => id).toSorted()).toEqual(kept.map(({ id }) => id).toSorted());
  }
}

function expectDelivered(scene: Scene): void {
  const { receiver, moments } = scene;
  const deliveries = [...scene.deliveries.values()];
  const expected = [...weeksReported(moments.map(({ nowMs }) => nowMs)), ...silencesReported(moments)];
  expect(deliveries.map(({ occurrence }) => occurrence).toSorted()).toEqual(expected.toSorted());
  for (const { id, message, state, attempts } of deliveries) {
    // Nodes that crash use up attempts.
    if (attempts <= messageRetryMs.length) expect({ id, state }).toEqual({ id, state: 'delivered' });
    const times = receiver.accepted.filter((one) => one.id === id);
    if (state === 'delivered') expect(times.length).toBeGreaterThanOrEqual(1);
    expect(times.length).toBeLessThanOrEqual(1 + scene.crashedAfterSending);
    for (const sent of [...times, ...receiver.refused.filter((one) => one.id === id)])
      expect(sent.message).toBe(message);
  }
  const known = new Set(deliveries.map(({ id }) => id));
  expect([...receiver.accepted, ...receiver.refused].filter(({ id }) => !known.has(id))).toEqual([]);
}

describe.each(placeFactories)('%s', (kind, factory) => {
  const { numRuns, ...parameters } = lawParameters(kind);

  test('a clock that was ten years ahead puts nothing off, and what it found is not reported again', async () => {
    const { handles, newProject } = await openTwo(factory);
    const [store, receiver, projectId] = [handles[0] as Store, new Receiver(), await newProject()];
    const ahead = startMs + 3650 * dayMs;
    const silence = { kind: 'silence', period: null, hours: silentHours } as const;
    const found = { projectId, destination: '{"to":"x"}', checkAt: ahead, incidentAt: ahead };
    await store.notifications.create(notificationOf(`${projectId} s`, { ...silence, ...found }), by);
    const run = async (nowMs: number) => {
      await startNode(store, receiver, () => nowMs, 'none').run();
      return (await store.notifications.listDeliveries('default', projectId, 10)).map(
        ({ occurrence }) => occurrence,
      );
    };
    expect(await run(startMs)).toEqual([]);
    expect(await store.notifications.findById('default', `${projectId} s`)).toMatchObject({
      ...{ checkAt: startMs + 10 * minuteMs, incidentAt: null },
    });
    expect(await run(startMs + 10 * minuteMs)).toEqual(['silence at 2026-01-05T00:10:00.000Z']);
    await store.notifications.remove('default', `${projectId} s`, by);
  });

  test('each occurrence is delivered, with one message and one id, whichever nodes crash', async () => {
    const { handles, newProject } = await openTwo(factory);
    const law = async (plan: readonly Step[]): Promise<void> => {
      const scene = new Scene(handles, await newProject());
      await scene.create();
      try {
        for (const step of plan) await scene.pass(step);
        await scene.settle();
        expectDelivered(scene);
      } finally {
        // A failed plan would send its messages to the receivers of the shorter ones that are tried next.
        await scene.remove();
      }
    };
    await fc.assert(fc.asyncProperty(steps, law), { ...parameters, numRuns: Math.ceil(numRuns / 10) });
  });
});
