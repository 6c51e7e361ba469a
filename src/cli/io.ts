import type { Readable, Writable } from 'node:stream';
import type { Clock } from '../domain/clock.js';

/** What a command touches of the world, handed in by `main.ts`. */
export interface Io {
  /** For results. */
  readonly stdout: Writable;
  /** For everything else: progress, warnings, logs. */
  readonly stderr: Writable;
  readonly stdin: Readable;
  /** Whether a person is watching stderr. */
  readonly interactive: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
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
