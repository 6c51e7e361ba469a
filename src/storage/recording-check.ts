import type { CommitObserver } from './ports/store-stats.js';

/** Tries are at least so many milliseconds apart: anybody may ask for `/readyz`, and each try waits for the disk. */
const tryIntervalMs = 5_000;

/**
 * Finds out whether queries can be recorded. Reads do not tell: they still work on a disk that is full or read-only. The
 * commits of requests tell it for free; without any, a small commit is tried.
 */
export class RecordingCheck {
  readonly #commit: () => Promise<unknown>;
  /** The error of the last commit. */
  #failure: unknown;
  /** When a commit was last tried, or others were found to have been made. */
  #checkedAt: number | undefined;
  #committed = false;
  #trying: Promise<void> | undefined;

  /** `commit` makes a commit that changes nothing which anybody reads. */
  constructor(commit: () => Promise<unknown>) {
    this.#commit = commit;
  }

  /** Observes commits, also for another observer. Ignores errors for which `tells` is false. */
  observe(
    other: CommitObserver | undefined,
    tells: (error: unknown) => boolean = () => true,
  ): CommitObserver {
    return {
      now: () => other?.now() ?? 0,
      committed: (durationMs, commit) => {
        other?.committed(durationMs, commit);
        const { error, hasWritten } = commit;
        // What writes nothing succeeds on a full disk, too.
        if (error === undefined ? !hasWritten : !tells(error)) return;
        this.#failure = error;
        this.#committed = true;
      },
    };
  }

  /** See `Maintenance.checkRecording`. Any number of calls share one try. */
  async run(nowMs: number): Promise<void> {
    if (this.#committed || !this.#isRecent(nowMs)) {
      this.#checkedAt = nowMs;
      if (!this.#committed) this.#trying = this.#try();
      this.#committed = false;
    }
    await this.#trying;
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** A clock that was set back must not postpone the next try. */
  #isRecent(nowMs: number): boolean {
    return this.#checkedAt !== undefined && Math.abs(nowMs - this.#checkedAt) < tryIntervalMs;
  }

  async #try(): Promise<void> {
    try {
      await this.#commit();
      this.#failure = undefined;
    } catch (error) {
      this.#failure = error;
    }
    // The store may have told of the try itself.
    this.#committed = false;
  }
}
