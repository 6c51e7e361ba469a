/** What all jobs share: they repeat a step until the process stops, and go on after it fails. */
import { sleep } from '../../shared/retry.js';
import type { ClockWatch } from './clock-watch.js';

export interface JobContext {
  /** Ends the job. */
  readonly signal: AbortSignal;
  readonly log: JobLog;
  /** Given to jobs that remove data or send messages by the clock: while it is not right, they do nothing. */
  readonly clockWatch?: ClockWatch | undefined;
  /** For tests. */
  readonly pause?: (durationMs: number) => Promise<void>;
}

interface JobLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

interface Repetition {
  /** The pause after each step. */
  readonly everyMs: number;
  /** The message in the log if the step fails. Of equal errors in a row, the first is logged. */
  readonly failure: string;
  /** Whether an error is logged. By default, every error is. */
  readonly isLogged?: (error: unknown) => boolean;
}

/** Repeats the step until `signal` is aborted. Never rejects. */
export async function repeatStep(
  step: () => Promise<void>,
  { everyMs, failure, isLogged = () => true }: Repetition,
  { signal, log, clockWatch, pause = (durationMs) => sleep(durationMs, { signal, ref: false }) }: JobContext,
): Promise<void> {
  let reported: string | undefined;
  while (!signal.aborted) {
    try {
      if (clockWatch?.isRight() !== false) await step();
      reported = undefined;
    } catch (error) {
      const { message } = error as Error;
      if (message !== reported && !signal.aborted && isLogged(error)) log.warn({ err: error }, failure);
      reported = message;
    }
    await pause(everyMs);
  }
}
