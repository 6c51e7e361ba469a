/**
 * `serve --workers`: several processes that listen on one port, for machines with more than one core. Each is a server like
 * any other on the same database. The primary process starts them, and does what must be done once, such as the first run.
 */
import cluster, { type Worker } from 'node:cluster';
import { on, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { CallerStatsError } from '../../domain/errors.js';
import { shutdownTimeoutMs, workerAnswerMs, workerRestartMs } from '../../domain/limits.js';
import type { Serving } from './listen.js';

/** A message from the primary process to a worker. */
type Order = { readonly kind: 'stop' } | { readonly kind: 'ask'; readonly question: number };

/** The answer of a worker to a question. */
interface Answer {
  readonly question: number;
  readonly answer: unknown;
}

/**
 * Resolves when the primary process tells this worker to stop. It uses no signal for this: if all processes get one at once,
 * as from Ctrl-C, a second one would kill the worker.
 */
export async function waitForStopOrder(): Promise<string> {
  if (cluster.worker === undefined) return new Promise(() => {});
  for await (const [order] of on(cluster.worker, 'message')) {
    if ((order as Order).kind === 'stop') break;
  }
  return 'told by the primary process';
}

/** Answers each question of the primary process with the result of `read`; not at all if `read` fails. */
export function answerQuestions(read: () => Promise<unknown>): void {
  const { worker } = cluster;
  worker?.on('message', (order: Order) => {
    if (order.kind !== 'ask') return;
    read().then(
      (answer) => {
        if (worker.isConnected())
          worker.send({ question: order.question, answer } satisfies Answer, () => {});
      },
      () => {},
    );
  });
}

let questionsAsked = 0;

/** Numbers of workers, from 1. A replacement has the number of the worker that ended. */
const numbers = new WeakMap<Worker, number>();

/** Asks all workers, and returns their answers with their numbers. Leaves out workers that do not answer in time. */
export async function askWorkers<T>(): Promise<{ readonly worker: number; readonly answer: T }[]> {
  const question = ++questionsAsked;
  const signal = AbortSignal.timeout(workerAnswerMs);
  const ask = async (worker: Worker) => {
    try {
      const messages = on(worker, 'message', { signal });
      worker.send({ kind: 'ask', question } satisfies Order, () => {});
      for await (const [message] of messages) {
        const { question: answered, answer } = message as Answer;
        if (answered === question) return [{ worker: numbers.get(worker) ?? 0, answer: answer as T }];
      }
    } catch {
      // The worker is ending or overloaded. Its next answer includes everything that this one lacks.
    }
    return [];
  };
  const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
  return (await Promise.all(workers.filter((worker) => worker.isConnected()).map(ask))).flat();
}

/**
 * Starts `count` processes with the arguments of this one, and resolves when all of them listen. A worker that ends
 * unexpectedly later is logged and replaced. Throws `unavailable` if a worker ends before it listens; it has printed the
 * reason. Returns undefined if `signal` is aborted before that.
 */
export async function startWorkers(
  count: number,
  { signal, log }: { readonly signal: AbortSignal; readonly log: Logger },
): Promise<Serving | undefined> {
  // JSON, the default, would turn NaN into null.
  cluster.setupPrimary({ serialization: 'advanced' });
  const running = new Set<Worker>();
  const stopping = new AbortController();

  const stop = async (): Promise<void> => {
    stopping.abort();
    await Promise.all([...running].map(stopWorker));
  };

  const start = async (): Promise<number> => {
    const worker = cluster.fork();
    numbers.set(worker, findFreeNumber(running));
    running.add(worker);
    worker.once('exit', () => running.delete(worker));
    const over = new AbortController();
    const options = { signal: over.signal };
    const ended = once(worker, 'exit', options).then(() => {
      throw new CallerStatsError('unavailable', 'A worker ended before it listened.');
    });
    try {
      const [{ port }] = await Promise.race([once(worker, 'listening', options), ended]);
      return port;
    } finally {
      over.abort();
    }
  };

  /** Replaces workers that end. Waits a moment each time, in case the replacement also ends at once. */
  const replaceEnded = async (): Promise<void> => {
    for await (const [{ process: child }, status, signal] of on(cluster, 'exit', {
      signal: stopping.signal,
    })) {
      log.error({ worker: child.pid, status, signal }, 'a worker ended; another is started');
      void delay(workerRestartMs, undefined, { signal: stopping.signal })
        .then(start)
        .catch(() => {
          // If the worker failed to start, its exit is logged above.
        });
    }
  };

  try {
    // One after the other, so that a problem that affects all of them is printed once.
    const port = await start();
    while (running.size < count && !signal.aborted) await start();
    // Rejects when `stopping` is aborted.
    replaceEnded().catch(() => {});
    return { port, stop };
  } catch (error) {
    await stop();
    if (signal.aborted) return undefined;
    throw error;
  }
}

function findFreeNumber(running: ReadonlySet<Worker>): number {
  const taken = new Set([...running].map((worker) => numbers.get(worker)));
  let number = 1;
  while (taken.has(number)) number++;
  return number;
}

/** Tells a worker to stop and waits for it. A worker has a deadline of its own; one that misses it is killed. */
async function stopWorker(worker: Worker): Promise<void> {
  const { process: child } = worker;
  const exited = once(worker, 'exit');
  const timer = setTimeout(() => child.kill('SIGKILL'), shutdownTimeoutMs + workerRestartMs);
  const tell = (): void => {
    if (worker.isConnected()) worker.send({ kind: 'stop' } satisfies Order, () => {});
  };
  // A worker that has just been started does not receive messages yet.
  worker.once('listening', tell);
  tell();
  await exited;
  clearTimeout(timer);
}
