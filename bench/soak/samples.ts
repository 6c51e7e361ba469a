/** Samples of a server's resource usage, and the comparison of the last quarter with the first. */
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { median, quantile } from '../support/statistics.js';
import type { Server, Workspace } from '../support/workspace.js';

/** One sample. */
export interface Sample {
  readonly rssBytes: number;
  /** Heap of the main thread after garbage collection. */
  readonly heapBytes: number;
  readonly fileDescriptors: number;
  readonly walBytes: number;
  readonly readP50Ms: number;
  readonly readP99Ms: number;
  readonly recordP50Ms: number;
  readonly recordP99Ms: number;
}

type Measure = keyof Sample;

interface Bound {
  readonly what: string;
  readonly measure: Measure;
  readonly unit: string;
  readonly per: number;
  /** Limits of the last quarter's median: a factor of the first quarter's, plus a constant. */
  readonly factor: number;
  readonly more: number;
}

const mebibyte = 2 ** 20;

/**
 * The database grows, and with it SQLite's page cache, up to 128 MB in the writer and 64 MB in the reader; its log
 * grows to 80 MB and is then reused. On PostgreSQL the log is the database server's, and is shown as 0. Nothing else may grow. The limits of latencies allow for a busy machine.
 */
const BOUNDS: readonly Bound[] = [
  {
    what: 'resident memory',
    measure: 'rssBytes',
    unit: 'MB',
    per: mebibyte,
    factor: 1.1,
    more: 192 * mebibyte,
  },
  {
    what: 'heap after collection',
    measure: 'heapBytes',
    unit: 'MB',
    per: mebibyte,
    factor: 1.1,
    more: 4 * mebibyte,
  },
  { what: 'file descriptors', measure: 'fileDescriptors', unit: '', per: 1, factor: 1, more: 10 },
  {
    what: 'write-ahead log',
    measure: 'walBytes',
    unit: 'MB',
    per: mebibyte,
    factor: 1,
    more: 100 * mebibyte,
  },
  { what: 'export, median', measure: 'readP50Ms', unit: 'ms', per: 1, factor: 2, more: 2 },
  { what: 'export, p99', measure: 'readP99Ms', unit: 'ms', per: 1, factor: 3, more: 50 },
  { what: 'recording of one, median', measure: 'recordP50Ms', unit: 'ms', per: 1, factor: 2, more: 5 },
  { what: 'recording of one, p99', measure: 'recordP99Ms', unit: 'ms', per: 1, factor: 3, more: 100 },
];

export interface Row {
  readonly what: string;
  readonly first: string;
  readonly last: string;
  readonly bound: string;
  readonly holds: boolean;
}

/** Compares the medians of the first and the last quarter with the limits. */
export function compareQuarters(samples: readonly Sample[]): Row[] {
  const quarter = Math.max(1, Math.floor(samples.length / 4));
  return BOUNDS.map(({ what, measure, unit, per, factor, more }) => {
    const of = (some: readonly Sample[]) => median(some.map((sample) => sample[measure]));
    const [first, last] = [of(samples.slice(0, quarter)), of(samples.slice(-quarter))];
    const bound = first * factor + more;
    const show = (value: number) => `${(value / per).toFixed(1)} ${unit}`.trim();
    return { what, first: show(first), last: show(last), bound: `<= ${show(bound)}`, holds: last <= bound };
  });
}

/** Request latencies since the last sample. */
export class Times {
  #ms: number[] = [];

  add(ms: number): void {
    this.#ms.push(ms);
  }

  /** Returns median and p99, and resets. */
  take(): readonly [p50: number, p99: number] {
    const taken = this.#ms.length === 0 ? [0] : this.#ms;
    this.#ms = [];
    return [quantile(taken, 0.5), quantile(taken, 0.99)];
  }
}

export async function look(
  workspace: Workspace,
  { pid }: Server,
  wal: string,
  { reads, records }: { readonly reads: Times; readonly records: Times },
): Promise<Sample> {
  const { rss, heapUsed } = await readMemory(workspace, pid);
  const [readP50Ms, readP99Ms] = reads.take();
  const [recordP50Ms, recordP99Ms] = records.take();
  return {
    rssBytes: rss,
    heapBytes: heapUsed,
    fileDescriptors: readdirSync(`/proc/${pid}/fd`).length,
    walBytes: existsSync(wal) ? statSync(wal).size : 0,
    readP50Ms,
    readP99Ms,
    recordP50Ms,
    recordP99Ms,
  };
}

const looksMax = 500;

/** Asks the heap probe in the server. */
async function readMemory(workspace: Workspace, pid: number): Promise<{ rss: number; heapUsed: number }> {
  const file = workspace.path('heap.json');
  rmSync(file, { force: true });
  process.kill(pid, 'SIGUSR2');
  for (let looks = 0; looks < looksMax; looks++) {
    if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as { rss: number; heapUsed: number };
    await delay(20);
  }
  throw new Error('the server does not say how much memory it has');
}
