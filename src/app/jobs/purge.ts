/** Jobs that remove old data: in small steps, so that recording never waits long. */
import { CallerStatsError } from '../../domain/errors.js';
import { formatTime } from '../../domain/format.js';
import { bucketStart } from '../../domain/ingestion/source-counts.js';
import { cleanupIntervalMs, cleanupRowsMax, sourceDaysMax } from '../../domain/limits.js';
import type { Clock } from '../../domain/time/clock.js';
import { dayMs, hourMs } from '../../domain/time/duration.js';
import { storeShare } from '../../shared/fair-share.js';
import type { Horizon, Ingestion } from '../../storage/ports/ingestion.js';
import type { Cleanup, Store } from '../../storage/ports/store.js';
import { type JobContext, repeatStep } from './job.js';

interface PurgeContext extends JobContext {
  readonly clock: Clock;
}

/** Removes the rows of deleted projects until none are left or `signal` is aborted. Returns the number of rows. */
export function purgeAll(store: Pick<Store, 'maintenance'>, signal?: AbortSignal): Promise<number> {
  return removeAll(() => store.maintenance.purgeDeleted(cleanupRowsMax), signal);
}

/** Removes the rows of deleted projects every few seconds, whatever the clock says. Any number of servers may do this at once. */
export function runPurging(store: Pick<Store, 'maintenance'>, context: JobContext): Promise<void> {
  const { signal, log } = context;
  const purge = async () => {
    const rows = await purgeAll(store, signal);
    if (rows > 0) log.info({ rows }, 'rows of deleted projects were removed');
  };
  const failure = 'rows of deleted projects could not be removed; trying again';
  return repeatStep(purge, { everyMs: cleanupIntervalMs, failure }, context);
}

/** Removes the rows of queries older than their retention every few seconds. Any number of servers may do this at once. */
export function runRetention(store: Pick<Store, 'maintenance'>, context: PurgeContext): Promise<void> {
  const { clock, signal, log } = context;
  const apply = async () => {
    const retain = async () => {
      const step = await store.maintenance.applyRetention(clock.now(), cleanupRowsMax);
      if (step.movedBack !== undefined) {
        const { projectId, rowsFrom } = step.movedBack;
        log.warn(
          { projectId },
          `a wrong clock had put the start of the kept rows into the future: it is ${formatTime(rowsFrom)} now; older queries are refused`,
        );
      }
      return step;
    };
    const old = await removeAll(retain, signal);
    if (old > 0)
      log.info({ rows: old }, 'rows of queries older than the retention of their project were removed');
  };
  const failure = 'rows of old queries could not be removed; trying again';
  return repeatStep(apply, { everyMs: cleanupIntervalMs, failure }, context);
}

/** Removes audit entries older than `days` once a day. Null keeps all entries. */
export async function runAuditPruning(
  store: Pick<Store, 'directory'>,
  context: PurgeContext & { readonly days: number | null },
): Promise<void> {
  const { days, clock, signal, log } = context;
  if (days === null) return;
  const prune = async () => {
    const before = clock.now() - days * dayMs;
    const entries = await removeAll(async () => {
      const removed = await store.directory.pruneAudit(before, cleanupRowsMax);
      return { removed, done: removed < cleanupRowsMax };
    }, signal);
    if (entries > 0) log.info({ entries, days }, 'old entries of the audit log were forgotten');
  };
  const failure = 'old entries of the audit log could not be forgotten; tried again in a day';
  await repeatStep(prune, { everyMs: dayMs, failure }, context);
}

/** Removes old counts of what arrived every hour. Any number of servers may do this at once. */
export function runIngestionPruning(
  { ingestion }: Pick<Store, 'ingestion'>,
  context: PurgeContext,
): Promise<void> {
  const { clock, signal } = context;
  const prune = async () => {
    const now = clock.now();
    const horizon = { bucketsBefore: bucketStart(now - dayMs), seenBefore: now - sourceDaysMax * dayMs };
    for (const id of await ingestion.listOutdated(horizon))
      await removeAll(() => pruneUnlessGone(ingestion, id, horizon), signal);
  };
  const failure = 'old counts of what arrived could not be removed; tried again in an hour';
  return repeatStep(prune, { everyMs: hourMs, failure }, context);
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
async function removeAll(step: () => Promise<Cleanup>, signal: AbortSignal | undefined): Promise<number> {
  let total = 0;
  while (!signal?.aborted) {
    const { removed, done } = await storeShare.take(step);
    total += removed;
    if (done) break;
  }
  return total;
}
