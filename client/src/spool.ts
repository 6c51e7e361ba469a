/**
 * Keeps what is recorded in a file until the server has it, for a process that does not stop normally. For Node, and what
 * has its file functions. Each line of the file is a query as JSON; all of them are sent again after a restart, which
 * does no harm.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import process from 'node:process';
import type { QueuedQuery } from './query.js';
import type { Spool } from './recorder-options.js';

export interface SpoolOptions {
  /**
   * Whether each query is on disk (fsync) before `record` returns, as a loss of power asks for; that takes a disk's time
   * for each. Without, which is the default, it is with the operating system, and survives the end of the process
   * however it comes, `kill -9` included.
   */
  readonly fsync?: boolean;
}

/** Queries that are settled may stay in the file until there are so many, or half of it: rewriting has a price, too. */
const settledMax = 10_000;

/** What this process has open: of two recorders on one file, each would remove what the other keeps. */
const opened = new Set<string>();

/**
 * Opens a spool, in a folder that is there; for `spool` of `createRecorder`. Throws where the file cannot be used, or
 * another process that runs has it open: each process needs one of its own.
 */
export function openSpool(path: string, { fsync = false }: SpoolOptions = {}): Spool {
  const lock = `${path}.lock`;
  takeLock(path, lock);
  let lines = 0;
  let left: readonly QueuedQuery[];
  let file: number;
  const rewrite = (queries: readonly QueuedQuery[]): number => {
    // Whole at all times: what is there before is only replaced by what is complete.
    // For appending: a write behind what was cut off would leave a hole before it.
    const draft = openSync(`${path}.new`, 'a', 0o600);
    ftruncateSync(draft);
    writeFileSync(draft, queries.map(lineOf).join(''));
    fsyncSync(draft);
    renameSync(`${path}.new`, path);
    lines = queries.length;
    return draft;
  };
  try {
    left = existsSync(path) ? queriesIn(readFileSync(path, 'utf8')) : [];
    file = rewrite(left);
  } catch (error) {
    letGo(path, lock);
    throw error;
  }
  return {
    load: () => left,
    append: (query) => {
      writeSync(file, lineOf(query));
      lines++;
      if (fsync) fsyncSync(file);
    },
    settle: (waiting) => {
      if (waiting.length === 0) {
        ftruncateSync(file);
        lines = 0;
      } else if (lines - waiting.length > Math.max(settledMax, waiting.length)) {
        const old = file;
        file = rewrite(waiting);
        closeSync(old);
      }
    },
    close: () => {
      closeSync(file);
      letGo(path, lock);
    },
  };
}

function lineOf({ id, caller, occurredAt }: QueuedQuery): string {
  return `${JSON.stringify({ id, caller, occurredAt })}\n`;
}

/** The last line may be torn, where the process ended while it was written. */
function queriesIn(text: string): QueuedQuery[] {
  return text.split('\n').flatMap((line) => {
    try {
      return line === '' ? [] : [JSON.parse(line) as QueuedQuery];
    } catch {
      return [];
    }
  });
}

/** The lock holds the id of its process, so that one that did not stop normally leaves none that counts. */
function takeLock(path: string, lock: string): void {
  if (opened.has(path))
    throw new Error(`${path} is open in this process already; give each recorder its own spool`);
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const owner = Number(readFileSync(lock, 'utf8'));
    if (owner !== process.pid && isRunning(owner)) {
      throw new Error(`${path} is open in process ${owner}; give each process its own spool`);
    }
    writeFileSync(lock, String(process.pid));
  }
  opened.add(path);
}

function letGo(path: string, lock: string): void {
  opened.delete(path);
  rmSync(lock, { force: true });
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
