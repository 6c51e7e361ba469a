import type { Logger } from 'pino';
import type { Clock } from '../../domain/time/clock.js';
import { dayMs } from '../../domain/time/duration.js';
import { sleep } from '../../shared/retry.js';
import type { Store } from '../../storage/ports/store.js';

/** Forgets entries of the audit log that are older than `days`, now and once a day, until `signal`. Null keeps all. */
export async function keepAuditLog(
  store: Pick<Store, 'pruneAudit'>,
  {
    days,
    clock,
    signal,
    log,
  }: {
    readonly days: number | null;
    readonly clock: Clock;
    readonly signal: AbortSignal;
    readonly log: Logger;
  },
): Promise<void> {
  if (days === null) return;
  while (!signal.aborted) {
    try {
      const entries = await store.pruneAudit(clock.now() - days * dayMs);
      if (entries > 0) log.info({ entries, days }, 'old entries of the audit log were forgotten');
    } catch (error) {
      log.warn({ err: error }, 'old entries of the audit log could not be forgotten; tried again in a day');
    }
    await sleep(dayMs, { signal, ref: false });
  }
}
