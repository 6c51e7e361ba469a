/** Counts the spans or log records of one request by the service that sent them. */
import type { DOUBTS, RefusalReason } from './refusals.js';
import {
  addOperations,
  type Delivery,
  OTHER_SOURCES,
  type Refusal,
  type Source,
  type SourceKind,
  SourceNames,
} from './source-counts.js';

export type Outcome = 'matched' | 'rejected' | 'unmatched';

interface ServiceTally extends Record<Outcome, number> {
  readonly reasons: Map<RefusalReason, number>;
  readonly operations: Map<string, number>;
}

export class RecordTally {
  readonly #names = new SourceNames();
  readonly #services = new Map<string, ServiceTally>();
  readonly #doubts = new Map<string, Pick<Source, 'name'> & Pick<Refusal, 'reason' | 'records'>>();

  /** `service` is the name that `sourceName` gives it. `reasons` say why a record was rejected. */
  add(service: string, outcome: Outcome, reasons: readonly RefusalReason[] = []): void {
    const tally = this.#find(service);
    tally[outcome]++;
    for (const reason of new Set(reasons)) tally.reasons.set(reason, (tally.reasons.get(reason) ?? 0) + 1);
  }

  /** What a record says it is that matched no rule, and belongs to no query as far as its trace is known. */
  note(service: string, operations: readonly string[]): void {
    addOperations(this.#find(service).operations, new Map(operations.map((one) => [one, 1])));
  }

  /** Queries, or requests, of a service are doubtful. It may have sent them earlier. */
  doubt(service: string, reason: (typeof DOUBTS)[number], records: number): void {
    if (records === 0) return;
    const { name } = this.#names.bound({ kind: 'traces', name: service });
    const key = `${reason} ${name}`;
    this.#doubts.set(key, { name, reason, records: records + (this.#doubts.get(key)?.records ?? 0) });
  }

  /**
   * What the services sent with a key, given how many queries of each were new. Of several records of one query, one recorded it and the
   * others are duplicates. A record that matches no rule has recorded a query if it told apart two that shared a trace.
   */
  deliveries(
    kind: SourceKind,
    recordedBy: ReadonlyMap<string, number>,
    keyId: string | null = null,
  ): Delivery[] {
    const recorded = new Map<ServiceTally, number>();
    for (const [service, count] of recordedBy) {
      // A service whose spans arrived earlier: the request that completed the trace is not its own.
      const others = this.#services.get(OTHER_SOURCES) ?? [...this.#services.values()][0];
      const tally = this.#services.get(service) ?? others;
      if (tally !== undefined) recorded.set(tally, (recorded.get(tally) ?? 0) + count);
    }
    const doubtful = [...this.#doubts.values()].map(({ name, reason, records }) => {
      return { kind, name, counts: {}, refusals: [{ reason, keyId, requests: 0, records }] };
    });
    const counted = [...this.#services].map(([name, tally]) => {
      const { matched, rejected, unmatched, operations, reasons } = tally;
      const refusals = [...reasons].map(([reason, records]) => ({ reason, keyId, requests: 0, records }));
      const fresh = Math.min(recorded.get(tally) ?? 0, matched + unmatched);
      const counts = {
        requests: 1,
        arrived: matched + rejected + unmatched,
        recorded: fresh,
        duplicates: Math.max(0, matched - fresh),
        rejected,
        unmatched: unmatched - Math.max(0, fresh - matched),
      };
      return { kind, name, counts, operations, ...(refusals.length > 0 && { refusals }) };
    });
    return [...counted, ...doubtful];
  }

  #find(service: string): ServiceTally {
    const { name } = this.#names.bound({ kind: 'traces', name: service });
    let tally = this.#services.get(name);
    if (tally === undefined) {
      tally = { matched: 0, rejected: 0, unmatched: 0, operations: new Map(), reasons: new Map() };
      this.#services.set(name, tally);
    }
    return tally;
  }
}
