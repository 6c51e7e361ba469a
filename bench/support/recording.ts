/** JSON request bodies with new queries that simulate live traffic of projects. */
import { randomUUID } from 'node:crypto';
import { CALLERS, type Event, uuidV7, YEAR } from './events.js';
import type { Message } from './traffic.js';

/** Time-ordered ids (UUIDv7) or random ones (UUIDv4). */
export type Ids = 'ordered' | 'random';

/** A project of 100 queries per second: nearly every query has its own millisecond. */
const stepMs = 10;

/** Queries for a store, ordered by time, from the `first` step of live traffic on. */
export function liveQueries(first: number, count: number): Event[] {
  return Array.from({ length: count }, (_, index) => {
    const occurredAt = YEAR.to + (first + index + 1) * stepMs;
    return {
      id: uuidV7(occurredAt, Math.random),
      caller: CALLERS[index % CALLERS.length] ?? 'web',
      occurredAt,
    };
  });
}

/** The clocks of the projects, which start after the year and continue across benchmarks. */
export class LiveTraffic {
  readonly #clocks = new Map<string, number>();
  #sent = 0;
  #turn = 0;

  /** The number of generated queries. */
  get sent(): number {
    return this.#sent;
  }

  /** The next body, with queries of one project; projects take turns. */
  next(projects: readonly string[], ids: Ids, queries: number): Message {
    const project = projects[this.#turn++ % projects.length] ?? '';
    let clock = this.#clocks.get(project) ?? YEAR.to;
    const texts: string[] = [];
    for (let index = 0; index < queries; index++) {
      clock += stepMs;
      const id = ids === 'ordered' ? uuidV7(clock, Math.random) : randomUUID();
      const caller = CALLERS[index % CALLERS.length];
      texts.push(`{"id":"${id}","caller":"${caller}","occurredAt":"${new Date(clock).toISOString()}"}`);
    }
    this.#clocks.set(project, clock);
    this.#sent += queries;
    return {
      method: 'POST',
      path: `/v1/analytics/${project}/assistant/queries`,
      body: queries === 1 ? (texts[0] ?? '') : `[${texts.join(',')}]`,
    };
  }
}
