/**
 * Stores queued queries in a file until the server acknowledges them, so that they survive a crash. For Node and
 * platforms with its file functions. Each line of the file is a query as JSON. After a restart all of them are sent
 * again, which is safe because recording is idempotent.
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
} from 'node:fs';
import process from 'node:process';
import type { QueuedQuery } from './query.js';
import type { Spool } from './recorder-options.js';

export interface SpoolOptions {
  /**
   * Whether `record` waits until each query is on disk (fsync). Queries then survive a power failure, but every call
   * waits for the disk. By default they are handed to the operating system and survive a crash of the process,
   * including `kill -9`.
   */
  readonly fsync?: boolean;
}

/** The file is rewritten when more settled queries than this, and more than half of its lines, are in it. */
const settledMax = 10_000;

/** Spools open in this process. Two recorders on one file would delete each other's queries. */
const opened = new Set<string>();

/**
 * Opens a spool for the option `spool` of `createRecorder`. Its folder must exist. Throws if the file is not accessible
 * or another running process has it open: each process needs its own spool.
 */
export function openSpool(path: string, { fsync = false }: SpoolOptions = {}): Spool {
  const lock = `${path}.lock`;
  acquireLock(path, lock);
  let lines = 0;
  /**
   * Whether the last line may be incomplete, because writing it failed, such as on a full disk. After a failed fsync, too: the
   * system may have given up what it did not write, up to any byte.
   */
  let isCut = false;
  /** Whether the file's name survives a power failure. */
  let isNamed = false;
  let left: readonly QueuedQuery[];
  let file: number;
  const flushName = (): void => {
    if (!isNamed) flushNames(path.replace(/[^/]*$/, '') || '.');
    isNamed = true;
  };
  const rewrite = (queries: readonly QueuedQuery[]): number => {
    // Write a new file and rename it, so that the spool is complete at all times.
    // Open it for appending: after a truncation, a plain write would leave a hole at the old offset.
    const draft = openSync(`${path}.new`, 'a', 0o600);
    try {
      ftruncateSync(draft);
      writeFileSync(draft, queries.map(toLine).join(''));
      fsyncSync(draft);
      renameSync(`${path}.new`, path);
    } catch (error) {
      closeSync(draft);
      throw error;
    }
    lines = queries.length;
    isNamed = false;
    try {
      flushName();
    } catch {
      // `append` tries again, and queries are sent anyway.
    }
    return draft;
  };
  try {
    left = existsSync(path) ? parseLines(readFileSync(path, 'utf8')) : [];
    file = rewrite(left);
  } catch (error) {
    releaseLock(path, lock);
    throw error;
  }
  return {
    load: () => left,
    append: (query) => {
      const line = isCut ? `\n${toLine(query)}` : toLine(query);
      isCut = true;
      writeFileSync(file, line);
      lines++;
      if (fsync) fsyncSync(file);
      isCut = false;
      if (fsync) flushName();
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
      releaseLock(path, lock);
    },
  };
}

/**
 * Makes the names in a folder survive a power failure, where that is possible; on Windows, it is not. Throws if the disk fails.
 */
function flushNames(folder: string): void {
  try {
    const descriptor = openSync(folder, 'r');
    try {
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    if (/^(EIO|ENOSPC|EDQUOT)$/.test((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

function toLine({ id, caller, occurredAt }: QueuedQuery): string {
  return `${JSON.stringify({ id, caller, occurredAt })}\n`;
}

/** Skips invalid lines: the last line is incomplete if the process stopped while writing it. */
function parseLines(text: string): QueuedQuery[] {
  return text.split('\n').flatMap((line) => {
    try {
      return line === '' ? [] : [JSON.parse(line) as QueuedQuery];
    } catch {
      return [];
    }
  });
}

/**
 * The lock file contains the id of the process and of the machine's start, so that the lock of a crashed process is
 * ignored. After a power failure, it may be empty, and another process may have the id.
 */
function acquireLock(path: string, lock: string): void {
  if (opened.has(path))
    throw new Error(`${path} is open in this process already; give each recorder its own spool`);
  const mine = `${process.pid} ${startOfMachine()}`;
  try {
    writeLock(lock, mine, 'wx');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const [owner, start = startOfMachine()] = readFileSync(lock, 'utf8').split(' ');
    if (Number(owner) !== process.pid && start === startOfMachine() && isRunning(Number(owner))) {
      throw new Error(`${path} is open in process ${owner}; give each process its own spool`);
    }
    writeLock(lock, mine, 'w');
  }
  opened.add(path);
}

/** Writes the lock as a whole or not at all: of a part, such as on a full disk, the id may be that of another process. */
function writeLock(lock: string, text: string, flag: 'w' | 'wx'): void {
  try {
    writeFileSync(lock, text, { flag, mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') rmSync(lock, { force: true });
    throw error;
  }
}

function releaseLock(path: string, lock: string): void {
  opened.delete(path);
  rmSync(lock, { force: true });
}

/** Another text after each start of the machine. Only on Linux. */
function startOfMachine(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}

function isRunning(pid: number): boolean {
  // 0 and negative numbers mean groups of processes.
  if (!(pid > 0)) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
