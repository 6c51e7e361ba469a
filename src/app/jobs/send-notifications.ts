/** A job that checks and sends notifications. */
import { isUnavailable } from '../../domain/errors.js';
import { notificationIntervalMs } from '../../domain/limits.js';
import { type JobContext, repeatStep } from './job.js';
import type { Notifier } from './notifier.js';

/** Looks every few seconds for what is due. A message on its way is finished or given up at its deadline. */
export function sendNotifications(notifier: Notifier, context: JobContext): Promise<void> {
  let isResealed = false;
  const send = async () => {
    if (!isResealed) await notifier.reseal();
    isResealed = true;
    await notifier.run(context.signal);
  };
  return repeatStep(
    send,
    {
      everyMs: notificationIntervalMs,
      failure: 'notifications could not be sent; trying again',
      // If the store is unavailable, other jobs and every request log that.
      isLogged: (error) => !isUnavailable(error),
    },
    context,
  );
}
