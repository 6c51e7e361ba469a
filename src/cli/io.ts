import type { Readable, Writable } from 'node:stream';
import type { Clock } from '../domain/time/clock.js';

/** What a command touches of the world, handed in by `main.ts`. */
export interface Io {
  /** For results. */
  readonly stdout: Writable;
  /** For everything else: progress, warnings, logs. */
  readonly stderr: Writable;
  readonly stdin: Readable;
  /** Whether a person is watching stderr. */
  readonly interactive: boolean;
  /** Whether stderr takes colours. */
  readonly colors: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** Milliseconds, in fractions, of a clock that only goes forward: for how long something takes. */
  readonly monotonicMs: () => number;
  /** A uniform integer in [0, max) from a cryptographic source. */
  readonly randomInt: (max: number) => number;
  /** Resolves with the signal's name when the process is asked to stop. */
  readonly stopRequested: () => Promise<string>;
}

/** Thrown where the command was called wrongly; the process exits with 2. One line a problem. */
export class UsageError extends Error {
  override readonly name = 'UsageError';

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
  }
}

/** Runs two checks and gives what both gave; where either throws a `UsageError`, throws one with the problems of both. */
export function allOrProblems<A, B>(first: () => A, second: () => B): [A, B] {
  const problems: string[] = [];
  const attempt = <T>(check: () => T): T | undefined => {
    try {
      return check();
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      problems.push(error.message);
      return undefined;
    }
  };
  const results = [attempt(first), attempt(second)];
  if (problems.length > 0) throw new UsageError(problems);
  return results as [A, B];
}
