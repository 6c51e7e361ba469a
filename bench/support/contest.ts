/** Contestants that take turns in every round, so that a busy minute of the machine hits all of them. */
import { type Message, type Sample, send, type Target } from './traffic.js';

export interface Contestant {
  readonly name: string;
  readonly target: Target;
  readonly connections: number;
  readonly next: () => Message;
}

/** What each contestant did, round by round. */
export type Rounds = ReadonlyMap<string, readonly Sample[]>;

export interface ContestOptions {
  readonly rounds: number;
  /** About as long as each contestant is kept busy in each round. */
  readonly seconds: number;
  readonly note: (line: string) => void;
}

/** Requests of each connection, at least; the warm-up has no more, and from it the first round knows how many to send. */
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
    // Nobody always comes after the same other.
    const first = round % contestants.length;
    for (const { name, target, connections, next } of [
      ...contestants.slice(first),
      ...contestants.slice(0, first),
    ]) {
      const rate = rates.get(name);
      // Pools have let go of connections that were idle for a while; to open them again is not what is measured.
      if (rate !== undefined) await send(target, next, { amount: connections, connections });
      const amount = Math.max(connections * requestsMin, Math.ceil((rate ?? 0) * seconds));
      const sample = await send(target, next, { amount, connections });
      rates.set(name, sample.requestsPerSecond);
      if (round > 0) samples.get(name)?.push(sample);
    }
  }
  return samples;
}

/** One contestant's figure over another's of the same round, for each round. */
export function ratio(rounds: Rounds, one: string, other: string, of: (sample: Sample) => number): number[] {
  const others = rounds.get(other) ?? [];
  return (rounds.get(one) ?? []).flatMap((sample, round) => {
    const beside = others[round];
    return beside === undefined ? [] : [of(sample) / of(beside)];
  });
}

/** Processor time of a request, service and database together; not a number where there is no /proc. */
export function processorUs({ serversUs, databaseUs }: Sample): number {
  return (serversUs ?? Number.NaN) + (databaseUs ?? Number.NaN);
}
