/** Jobs that remove old data: in small steps, so that recording never waits long. */
import type { Logger } from 'pino';
import { CallerStatsError } from '../../domain/errors.js';
import { bucketStart } from '../../domain/ingestion/source-counts.js';
import { cleanupIntervalMs, cleanupRowsMax, sourceDaysMax } from '../../domain/limits.js';
import type { Clock } from '../../domain/time/clock.js';
import { dayMs, hourMs } from '../../domain/time/duration.js';
import { sleep } from '../../shared/retry.js';
import type { Horizon, Ingestion } from '../../storage/ports/ingestion.js';
import type { Cleanup, Store } from '../../storage/ports/store.js';

interface JobContext {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly log: Logger;
}

/** Removes the rows of deleted projects until none are left or `signal` is aborted. Returns the number of rows. */
export function purgeAll(store: Pick<Store, 'purgeDeleted'>, signal?: AbortSignal): Promise<number> {
  return repeat(() => store.purgeDeleted(cleanupRowsMax), signal);
}

/**
 * Removes the rows of deleted projects and of queries older than their retention every few seconds, until `signal` is
 * aborted. Any number of servers may do this at once.
 */
export async function runPurging(
  store: Pick<Store, 'purgeDeleted' | 'applyRetention'>,
  { clock, signal, log }: JobContext,
): Promise<void> {
  let reported: string | undefined;
  while (!signal.aborted) {
    try {
      const rows = await purgeAll(store, signal);
      if (rows > 0) log.info({ rows }, 'rows of deleted projects were removed');
      const old = await repeat(() => store.applyRetention(clock.now(), cleanupRowsMax), signal);
      if (old > 0)
        log.info({ rows: old }, 'rows of queries older than the retention of their project were removed');
      reported = undefined;
    } catch (error) {
      const { message } = error as Error;
      if (message !== reported && !signal.aborted)
        log.warn(
          { err: error },
          'rows of deleted projects or old queries could not be removed; trying again',
        );
      reported = message;
    }
    await sleep(cleanupIntervalMs, { signal, ref: false });
  }
}

/** Removes audit entries older than `days` once a day until `signal` is aborted. Null keeps all entries. */
export async function runAuditPruning(
  store: Pick<Store, 'pruneAudit'>,
  { days, clock, signal, log }: JobContext & { readonly days: number | null },
): Promise<void> {
  if (days === null) return;
  while (!signal.aborted) {
    try {
      const before = clock.now() - days * dayMs;
      const entries = await repeat(async () => {
        const removed = await store.pruneAudit(before, cleanupRowsMax);
        return { removed, done: removed < cleanupRowsMax };
      }, signal);
      if (entries > 0) log.info({ entries, days }, 'old entries of the audit log were forgotten');
    } catch (error) {
      log.warn({ err: error }, 'old entries of the audit log could not be forgotten; tried again in a day');
    }
    await sleep(dayMs, { signal, ref: false });
  }
}

/** Removes old counts of what arrived every hour, until `signal` is aborted. Any number of servers may do this at once. */
export async function runIngestionPruning(
  { ingestion }: Pick<Store, 'ingestion'>,
  { clock, signal, log }: JobContext,
): Promise<void> {
  while (!signal.aborted) {
    const now = clock.now();
    const horizon = { bucketsBefore: bucketStart(now - dayMs), seenBefore: now - sourceDaysMax * dayMs };
    try {
      for (const id of await ingestion.listOutdated(horizon))
        await repeat(() => pruneUnlessGone(ingestion, id, horizon), signal);
    } catch (error) {
      if (!signal.aborted)
        log.warn({ err: error }, 'old counts of what arrived could not be removed; tried again in an hour');
    }
    await sleep(hourMs, { signal, ref: false });
  }
}

async function pruneUnlessGone(ingestion: Ingestion, projectId: string, horizon: Horizon): Promise<Cleanup> {
  try {
    return await ingestion.prune(projectId, horizon, cleanupRowsMax);
  } catch (error) {
    // The project was deleted meanwhile.
    if (error instanceof CallerStatsError && error.code === 'not_found') return { removed: 0, done: true };
    throw error;
  }
}

/** Repeats a step until it is done or `signal` is aborted. Returns the number of removed rows. */
async function repeat(step: () => Promise<Cleanup>, signal: AbortSignal | undefined): Promise<number> {
  let total = 0;
  while (!signal?.aborted) {
    const { removed, done } = await step();
    total += removed;
    if (done) break;
  }
  return total;
}
