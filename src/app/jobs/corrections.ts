/** Finishes corrections that no request waits for: those that take long, and those of servers that stopped half-way. */
import { CallerStatsError } from '../../domain/errors.js';
import { cleanupIntervalMs } from '../../domain/limits.js';
import { type CorrectionTarget, finishAll } from '../corrections.js';
import { type JobContext, repeatStep } from './job.js';

/** Any number of servers may do this at once. */
export function runCorrections(target: CorrectionTarget, context: JobContext): Promise<void> {
  const { signal, log } = context;
  const finishEach = async () => {
    for (const projectId of await target.store.corrections.listUnfinished()) {
      const steps = await finishUnlessGone(target, projectId, signal);
      if (steps > 0) log.info({ projectId, steps }, 'corrections were carried out');
    }
  };
  const failure = 'corrections could not be carried out; trying again';
  return repeatStep(finishEach, { everyMs: cleanupIntervalMs, failure }, context);
}

async function finishUnlessGone(
  target: CorrectionTarget,
  projectId: string,
  signal: AbortSignal,
): Promise<number> {
  try {
    return await finishAll(target, projectId, signal);
  } catch (error) {
    // The project was deleted meanwhile.
    if (error instanceof CallerStatsError && error.code === 'not_found') return 0;
    throw error;
  }
}
