/**
 * Notices a clock that jumps, or that is far ahead when the server starts. Jobs that remove data and send messages then wait, because
 * most such clocks are wrong and soon corrected, and a removed row or a sent message cannot be taken back.
 */
import { CallerStatsError } from '../../domain/errors.js';
import { clockJumpMsMin, clockTrustedMs, clockUnseenMsMax } from '../../domain/limits.js';
import type { Clock } from '../../domain/time/clock.js';
import { secondMs } from '../../domain/time/duration.js';
import type { Store } from '../../storage/ports/store.js';

interface ClockWatchOptions {
  readonly clock: Clock;
  /** A clock that nobody sets. */
  readonly monotonicMs: () => number;
  readonly log: { warn(fields: object, message: string): void };
}

export class ClockWatch implements Clock {
  readonly #options: ClockWatchOptions;
  /** How much later the clock should be than the monotonic one. Undefined before `begin`. */
  #offsetMs: number | undefined;
  /** By how much the clock may differ from that. */
  #toleranceMs = clockJumpMsMin;
  #jump: { readonly offsetMs: number; readonly sinceMs: number } | undefined;

  constructor(options: ClockWatchOptions) {
    this.#options = options;
  }

  /** Compares the clock with the newest time in the database. Until then, it is not right. */
  begin(newestMs: number | undefined): void {
    const { clock, monotonicMs, log } = this.#options;
    const nowMs = clock.now();
    const sinceMs = monotonicMs();
    this.#offsetMs = nowMs - sinceMs;
    if (newestMs === undefined || nowMs - newestMs <= clockUnseenMsMax) return;
    this.#jump = { offsetMs: this.#offsetMs, sinceMs };
    this.#offsetMs = newestMs - sinceMs;
    this.#toleranceMs = clockUnseenMsMax;
    log.warn(
      { seconds: Math.round((nowMs - newestMs) / secondMs) },
      'the clock is far ahead of everything in the database: retention, notifications and clean-ups wait until it has kept its time for an hour',
    );
  }

  /** Throws `unavailable` unless the clock is right, so that a job notices a jump in the middle of its step. */
  now(): number {
    if (this.isRight()) return this.#options.clock.now();
    throw new CallerStatsError('unavailable', 'The clock of the machine has jumped, and may be wrong.');
  }

  /**
   * The time as it would be if the clock had not jumped, by which recordings forget, because they cannot wait. 0 before `begin`. In
   * whole milliseconds: PostgreSQL takes no others.
   */
  rightMs(): number {
    const { clock, monotonicMs } = this.#options;
    if (this.isRight()) return clock.now();
    return this.#offsetMs === undefined ? 0 : Math.floor(monotonicMs() + this.#offsetMs);
  }

  /** False while the clock shows another time than it should, until it has done so for `clockTrustedMs`. Says in the log when that changes. */
  isRight(): boolean {
    const { clock, monotonicMs, log } = this.#options;
    const sinceMs = monotonicMs();
    const offsetMs = clock.now() - sinceMs;
    if (this.#offsetMs === undefined) return false;
    if (Math.abs(offsetMs - this.#offsetMs) < this.#toleranceMs) {
      if (this.#jump !== undefined) log.warn({}, 'the clock is right again: jobs go on');
      // Clocks are also corrected slowly.
      this.#believe(offsetMs);
      return true;
    }
    if (this.#jump === undefined || Math.abs(offsetMs - this.#jump.offsetMs) >= clockJumpMsMin) {
      this.#jump = { offsetMs, sinceMs };
      const fields = { seconds: Math.round((offsetMs - this.#offsetMs) / secondMs) };
      log.warn(
        fields,
        'the clock jumped: retention, notifications and clean-ups wait until it is right, or has kept this time for an hour',
      );
    }
    if (sinceMs - this.#jump.sinceMs < clockTrustedMs) return false;
    log.warn({}, 'the clock has kept its new time for an hour: jobs go on');
    this.#believe(offsetMs);
    return true;
  }

  #believe(offsetMs: number): void {
    this.#jump = undefined;
    this.#offsetMs = offsetMs;
    this.#toleranceMs = clockJumpMsMin;
  }
}

/**
 * The newest time in the database: of a change, of a use of a key, of a new project, or of a query. Stops at the first one that is
 * recent enough for `ClockWatch.begin`. Undefined for an empty database.
 */
export async function findNewestTime(
  { directory, counts }: Pick<Store, 'directory' | 'counts'>,
  nowMs: number,
): Promise<number | undefined> {
  let newestMs: number | undefined;
  const isRecent = (timeMs: number) => {
    newestMs = Math.max(timeMs, newestMs ?? timeMs);
    return nowMs - newestMs <= clockUnseenMsMax;
  };
  for (const { id: organizationId } of await directory.listOrganizations()) {
    const [entry] = await directory.readAudit(organizationId, { limit: 1 });
    if (entry !== undefined && isRecent(entry.at)) break;
    const keys = await directory.listKeys(organizationId);
    if (keys.some(({ lastUsedAt }) => lastUsedAt !== null && isRecent(lastUsedAt))) break;
    const projects = await directory.listProjects(organizationId);
    if (projects.some(({ createdAt }) => isRecent(createdAt))) break;
    for (const { id } of projects) {
      const extent = await counts.findExtent(id);
      if (extent !== undefined && isRecent(extent.to)) return newestMs;
    }
  }
  return newestMs;
}
