/** Doing again what could not be done because a store or a server was away for a moment. */
import { CallerStatsError } from '../domain/errors.js';

/** Tries while something is away: about half a minute, enough for a restart. */
export const awayTriesMax = 8;

/** Milliseconds to wait after the n-th try, from 1, where nobody names a time. */
export const backoffMs = (tries: number): number => Math.min(250 * 2 ** (tries - 1), 10_000);

export function sleep(durationMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, durationMs));
}

export interface RetryOptions {
  readonly triesMax: number;
  /** Hears of each further try. */
  readonly note: (line: string) => void;
  /** Waits so many milliseconds. */
  readonly wait?: (durationMs: number) => Promise<void>;
}

/**
 * Does `work` until it is done or has failed `triesMax` times because the store was unavailable: only for what may be done
 * twice, as recording may. Other errors are passed on at once.
 */
export async function whileAway<T>(
  work: () => Promise<T>,
  { triesMax, note, wait = sleep }: RetryOptions,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      const away = error instanceof CallerStatsError && error.code === 'unavailable';
      if (!away || tries >= triesMax) throw error;
      const waitMs = backoffMs(tries);
      note(`${error.message} Trying again in ${waitMs / 1000} s.`);
      await wait(waitMs);
    }
  }
}
