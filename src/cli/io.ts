import type { Readable, Writable } from 'node:stream';
import type { Clock } from '../domain/time/clock.js';

/** Everything outside the program that a command uses. `main.ts` passes it in. */
export interface Io {
  /** For results. */
  readonly stdout: Writable;
  /** Whether stdout is a terminal, and not a log or another program. */
  readonly stdoutIsTerminal: boolean;
  /** For progress, warnings and logs. */
  readonly stderr: Writable;
  readonly stdin: Readable;
  /** Whether a person is watching stderr. */
  readonly interactive: boolean;
  /** Whether stderr shows colors. */
  readonly colors: boolean;
  /** `--settings` adds to it, also for libraries that read variables of their own. */
  readonly env: Record<string, string | undefined>;
  readonly clock: Clock;
  /** Milliseconds, with fractions, of a monotonic clock, to measure durations. */
  readonly monotonicMs: () => number;
  /** A uniform integer in [0, max) from a cryptographic source. */
  readonly randomInt: (max: number) => number;
  /** Resolves with the signal's name when the process is asked to stop. */
  readonly stopRequested: () => Promise<string>;
  /** Calls `listener` instead of ending the process when its terminal closes, or a reload is asked for (SIGHUP). */
  readonly onHangup: (listener: () => void) => void;
  /** The folder of the package, with its `demo` and `dist`. */
  readonly packageFolder: URL;
}

/** The command was called wrongly. The message has a line for each problem; the exit status is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
  }
}

/** The command has printed a result that counts as a failure: the exit status is 1. */
export class FailedResult extends Error {
  override readonly name = 'FailedResult';
}

/** Runs two checks and returns both results. If either throws a `UsageError`, throws one with the problems of both. */
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
