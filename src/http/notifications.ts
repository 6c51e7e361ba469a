/** Checks and sends notifications while the app runs. */
import type { FastifyInstance } from 'fastify';
import type { Notifier } from '../app/notifications/notifier.js';
import { isUnavailable } from '../domain/errors.js';
import { notificationIntervalMs } from '../domain/limits.js';
import { sleep } from '../shared/retry.js';

/** Looks every few seconds for what is due. */
export function watchNotifications(app: FastifyInstance, notifier: Notifier): void {
  const stop = new AbortController();
  let running: Promise<void> = Promise.resolve();
  app.addHook('onReady', async () => {
    running = run(app, notifier, stop.signal);
  });
  // A message on its way has a deadline.
  app.addHook('onClose', async () => {
    stop.abort();
    await running;
  });
}

async function run({ log }: FastifyInstance, notifier: Notifier, signal: AbortSignal): Promise<void> {
  let reported: string | undefined;
  let isResealed = false;
  while (!signal.aborted) {
    try {
      if (!isResealed) await notifier.reseal();
      isResealed = true;
      await notifier.run(signal);
      reported = undefined;
    } catch (error) {
      const { message } = error as Error;
      // Of a store that is unavailable, other jobs and every request say so.
      if (message !== reported && !isUnavailable(error))
        log.warn({ err: error }, 'notifications could not be sent; trying again');
      reported = message;
    }
    await sleep(notificationIntervalMs, { signal, ref: false });
  }
}
