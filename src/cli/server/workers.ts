/**
 * `serve --workers`: several processes that listen on one port, for machines with more than one core. Each is a server like
 * any other on the same database, as nodes are; what is done once, such as the first run, this first process does.
 */
import type { ChildProcess } from 'node:child_process';
import cluster, { type Worker } from 'node:cluster';
import { on, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { CallerStatsError } from '../../domain/errors.js';
import { shutdownTimeoutMs, workerAnswerMs, workerRestartMs } from '../../domain/limits.js';

/** Whether this process is one of several, and another one does what is done once. */
export function isWorker(): boolean {
  return cluster.isWorker;
}

/** What the first process says to a worker. */
type Order = { readonly kind: 'stop' } | { readonly kind: 'ask'; readonly question: number };

/** What a worker says to the first one. */
interface Answer {
  readonly question: number;
  readonly answer: unknown;
}

/** Resolves when the first process says to stop. Not by a signal: where all of them get one at once, a second would kill. */
export async function toldToStop(): Promise<string> {
  if (cluster.worker === undefined) return new Promise(() => {});
  for await (const [order] of on(cluster.worker, 'message')) {
    if ((order as Order).kind === 'stop') break;
  }
  return 'told by the first process';
}

/** From now on this worker answers with this when the first process asks. What cannot be read has no answer. */
export function answerWhenAsked(read: () => Promise<unknown>): void {
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

/** As many as were asked so far. */
let questions = 0;

/** Numbers of workers, from 1: one that is started in the place of another has its number. */
const numbers = new WeakMap<Worker, number>();

/** What all of them answer at this moment, by their numbers. One that does not in time is left out. */
export async function askWorkers<T>(): Promise<{ readonly number: number; readonly answer: T }[]> {
  const question = ++questions;
  const signal = AbortSignal.timeout(workerAnswerMs);
  const ask = async (worker: Worker) => {
    try {
      const messages = on(worker, 'message', { signal });
      worker.send({ kind: 'ask', question } satisfies Order, () => {});
      for await (const [message] of messages) {
        const heard = message as Answer;
        if (heard.question === question)
          return [{ number: numbers.get(worker) ?? 0, answer: heard.answer as T }];
      }
    } catch {
      // It ends, or has too much to do; what it says next time has all of it.
    }
    return [];
  };
  const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
  return (await Promise.all(workers.filter((worker) => worker.isConnected()).map(ask))).flat();
}

/** Lets this worker end: nothing of it is needed any more. */
export function leave(): void {
  cluster.worker?.disconnect();
}

export interface Workers {
  /** The port that they listen on. */
  readonly port: number;
  /** Asks all of them to stop, and resolves when they have: each finishes what it accepted. */
  readonly stop: () => Promise<void>;
}

/**
 * Starts so many processes with the arguments of this one, and resolves when each listens. One that ends by itself later is
 * replaced, and the log says so. Throws `unavailable` where one ends before it listens; it has said why. Undefined where
 * `signal` came before.
 */
export async function startWorkers(
  count: number,
  { signal, log }: { readonly signal: AbortSignal; readonly log: Logger },
): Promise<Workers | undefined> {
  // Numbers that are none have to arrive as such.
  cluster.setupPrimary({ serialization: 'advanced' });
  const running = new Set<Worker>();
  const stopping = new AbortController();

  const stop = async (): Promise<void> => {
    stopping.abort();
    await Promise.all([...running].map(end));
  };

  const start = async (): Promise<number> => {
    const worker = cluster.fork();
    numbers.set(worker, freeNumber(running));
    running.add(worker);
    worker.once('exit', () => running.delete(worker));
    const over = new AbortController();
    try {
      return await Promise.race([portOf(worker, over.signal), requireLife(worker, over.signal)]);
    } finally {
      over.abort();
    }
  };

  /** Starts another one in the place of each that ends, after a moment: one that cannot live is not tried all the time. */
  const keepUp = async (): Promise<void> => {
    for await (const [worker, status, signal] of on(cluster, 'exit', { signal: stopping.signal })) {
      log.error({ worker: childOf(worker).pid, status, signal }, 'a worker ended; another is started');
      void delay(workerRestartMs, undefined, { signal: stopping.signal })
        .then(start)
        .catch(() => {
          // That it did not start is an end as well, which is logged; and stopping is no reason to say anything.
        });
    }
  };

  try {
    // One after the other: what keeps the first from starting is then said once.
    const port = await start();
    while (running.size < count && !signal.aborted) await start();
    // Rejects when it is stopped.
    keepUp().catch(() => {});
    return { port, stop };
  } catch (error) {
    await stop();
    if (signal.aborted) return undefined;
    throw error;
  }
}

function freeNumber(running: ReadonlySet<Worker>): number {
  const taken = new Set([...running].map((worker) => numbers.get(worker)));
  let number = 1;
  while (taken.has(number)) number++;
  return number;
}

async function portOf(worker: Worker, signal: AbortSignal): Promise<number> {
  const [{ port }] = (await once(worker, 'listening', { signal })) as [{ readonly port: number }];
  return port;
}

async function requireLife(worker: Worker, signal: AbortSignal): Promise<never> {
  await once(worker, 'exit', { signal });
  throw new CallerStatsError('unavailable', 'A worker ended before it listened.');
}

function childOf({ process: child }: Worker): ChildProcess {
  return child;
}

/** A worker gives up by itself after a while; one that cannot even do that is killed. */
async function end(worker: Worker): Promise<void> {
  const exited = once(worker, 'exit');
  const timer = setTimeout(() => childOf(worker).kill('SIGKILL'), shutdownTimeoutMs + workerRestartMs);
  // Where it is ending already, there is nobody to tell; and one that has just been started does not hear it yet.
  const tell = (): void => {
    if (worker.isConnected()) worker.send({ kind: 'stop' } satisfies Order, () => {});
  };
  worker.once('listening', tell);
  tell();
  await exited;
  clearTimeout(timer);
}
