/** Contestants that take turns in every round, so that background load affects all of them. */
import { type Message, type Sample, send, type Target } from './traffic.js';

export interface Contestant {
  readonly name: string;
  readonly target: Target;
  readonly connections: number;
  readonly next: () => Message;
}

/** The samples of each contestant, round by round. */
export type Rounds = ReadonlyMap<string, readonly Sample[]>;

export interface ContestOptions {
  readonly rounds: number;
  /** Approximate seconds of load per contestant and round. */
  readonly seconds: number;
  readonly note: (line: string) => void;
}

/** Minimum requests per connection. The warm-up sends only these; its rate determines the amount of the first round. */
const requestsMin = 4;

export async function hold(
  contestants: readonly Contestant[],
  { rounds, seconds, note }: ContestOptions,
): Promise<Rounds> {
  const samples = new Map<string, Sample[]>(contestants.map(({ name }) => [name, []]));
  const rates = new Map<string, number>();
  // Round 0 warms up and is not counted.
  for (let round = 0; round <= rounds; round++) {
    note(round === 0 ? 'warming up' : `round ${round} of ${rounds}`);
    // Rotate the order.
    const first = round % contestants.length;
    for (const { name, target, connections, next } of [
      ...contestants.slice(first),
      ...contestants.slice(0, first),
    ]) {
      const rate = rates.get(name);
      // Pools close idle connections; reopening them should not be measured.
      if (rate !== undefined) await send(target, next, { amount: connections, connections });
      const amount = Math.max(connections * requestsMin, Math.ceil((rate ?? 0) * seconds));
      const sample = await send(target, next, { amount, connections });
      rates.set(name, sample.requestsPerSecond);
      if (round > 0) samples.get(name)?.push(sample);
    }
  }
  return samples;
}

/** The ratios of two contestants, round by round. */
export function ratio(rounds: Rounds, one: string, other: string, of: (sample: Sample) => number): number[] {
  const others = rounds.get(other) ?? [];
  return (rounds.get(one) ?? []).flatMap((sample, round) => {
    const beside = others[round];
    return beside === undefined ? [] : [of(sample) / of(beside)];
  });
}

/** Processor time per request, service and database together; NaN without /proc. */
export function processorUs({ serversUs, databaseUs }: Sample): number {
  return (serversUs ?? Number.NaN) + (databaseUs ?? Number.NaN);
}
