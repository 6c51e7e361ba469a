/**
 * Which of its hosts a database is used at, as libpq does it (postgresql.org/docs/current/libpq-connect.html, "Specifying
 * Multiple Hosts"), with one difference: a new connection first tries the host of the last one, so that a machine that is
 * gone does not delay each of them.
 */
import { diagnose, HostsError, UnsuitableServer } from './errors.js';
import { type Host, nameOfHost, type PostgresLocation, type SessionTarget } from './location.js';

/** What a server says of itself. */
export interface ServerState {
  readonly isStandby: boolean;
  /** Whether its transactions are read-only, as always on a standby. */
  readonly isReadOnly: boolean;
}

/** A host to try, and what its server must be. */
export interface Candidate extends Host {
  readonly target: SessionTarget;
}

const IS_FOR_WRITES: Readonly<Record<SessionTarget, boolean>> = {
  any: true,
  'read-write': true,
  primary: true,
  'read-only': false,
  standby: false,
  'prefer-standby': false,
};

export class Hosts {
  readonly #candidates: readonly [Candidate, ...Candidate[]];
  /** For connecting to one of them. */
  readonly connectTimeoutMs: number;
  readonly #failures = new Map<string, unknown>();
  readonly #generations = new Map<string, number>();
  #at = 0;

  constructor({ hosts, target, connectTimeoutMs }: PostgresLocation, timeoutMs: number) {
    const withTarget = (one: SessionTarget) => hosts.map((host) => ({ ...host, target: one }));
    const candidates =
      target === 'prefer-standby' ? [...withTarget('standby'), ...withTarget('any')] : withTarget(target);
    const [first, ...others] = candidates;
    if (first === undefined) throw new Error('Invariant violated: a location has a host.');
    this.#candidates = [first, ...others];
    this.connectTimeoutMs = Math.min(connectTimeoutMs ?? timeoutMs / hosts.length, timeoutMs);
  }

  /** How many there are to try. */
  get size(): number {
    return this.#candidates.length;
  }

  /** Where new connections go. */
  get current(): Candidate {
    return this.#candidates[this.#at] ?? this.#candidates[0];
  }

  /** Changes when older connections to this host are not to be used any more. */
  generationOf(candidate: Candidate): number {
    return this.#generations.get(nameOfHost(candidate)) ?? 0;
  }

  /**
   * Makes the next host the current one after `error`, unless another connection has done so. As in libpq, a server that
   * refuses the user or has no such database is not passed over.
   */
  leave(candidate: Candidate, error: unknown): void {
    if (!diagnose(error).passing) return;
    this.#failures.set(nameOfHost(candidate), error);
    if (candidate === this.current) this.#at = (this.#at + 1) % this.#candidates.length;
  }

  /** A server refuses writes, which connections were made for: none of them is used again. */
  distrust(candidate: Candidate, error: unknown): void {
    if (!IS_FOR_WRITES[candidate.target]) return;
    this.#generations.set(nameOfHost(candidate), this.generationOf(candidate) + 1);
    this.leave(candidate, error);
  }

  /** A connection was made. */
  keep(candidate: Candidate): void {
    this.#failures.delete(nameOfHost(candidate));
    // A standby is preferred again by the next connection.
    if (candidate.target !== this.#candidates[0].target) this.#at = 0;
  }

  /** The error of a connection that could not be made, with those of the other hosts. */
  explain(error: unknown): unknown {
    const isOne = new Set(this.#candidates.map(nameOfHost)).size === 1;
    return isOne || !diagnose(error).passing || this.#failures.size === 0
      ? error
      : new HostsError(new Map(this.#failures));
  }
}

/** Throws if the server is not what is asked for. */
export function requireTarget(target: SessionTarget, { isStandby, isReadOnly }: ServerState): void {
  const misfits: Readonly<Record<SessionTarget, boolean>> = {
    any: false,
    'prefer-standby': false,
    'read-write': isReadOnly,
    'read-only': !isReadOnly,
    primary: isStandby,
    standby: !isStandby,
  };
  if (!misfits[target]) return;
  const is = isStandby ? 'a standby' : isReadOnly ? 'read-only' : 'a primary server that can be written to';
  throw new UnsuitableServer(`it is ${is}, and target_session_attrs is ${target}`);
}
