/**
 * Stores queued queries in a folder until the server acknowledges them, so that they survive a crash. For Node and platforms with
 * its file functions. Processes, containers and machines may share the folder, and clients in other languages, too:
 * `clients/spool.md` of the repository describes it. Queries may be sent twice. That is harmless, because an id counts once.
 */
import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import process from 'node:process';
import { platform } from './platform.js';
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
const beatMs = 10_000;
const renewMs = 30_000;
const goneMs = 60_000;

const namePattern = /^([\da-f-]{36})\.(?:lock|\d+\.([^.]*)\.ndjson)$/;

/**
 * Opens a spool for the option `spool` of `createRecorder`: a folder, which is made if its parent exists. Any number of recorders
 * and processes may share it. Throws if the folder is not accessible. A spool of an earlier version, a file, is moved into the folder.
 */
export function openSpool(path: string, { fsync = false }: SpoolOptions = {}): Spool {
  return new FolderSpool(makeFolder(path), fsync);
}

class FolderSpool implements Spool {
  readonly #folder: string;
  readonly #fsync: boolean;
  #owner: string = crypto.randomUUID();
  #project = '';
  #number = 0;
  /** The file to which queries are appended, once there is one. */
  #file: number | undefined;
  #path = '';
  /** Paths of the files that were adopted. */
  #adopted: string[] = [];
  /** Why some files could not be adopted, until it is reported. */
  #problem: unknown;
  /** How many queries are in all these files. */
  #lines = 0;
  /**
   * Whether the last line may be incomplete, because writing it failed, such as on a full disk. After a failed fsync, too: the
   * system may have given up what it did not write, up to any byte.
   */
  #isCut = false;
  /** Whether the file's name survives a power failure. */
  #isNamed = false;
  #beatAtMs = 0;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(folder: string, fsync: boolean) {
    this.#folder = folder;
    this.#fsync = fsync;
    this.#writeLock();
  }

  load(projectId: string, later: (load: () => readonly QueuedQuery[]) => void): readonly QueuedQuery[] {
    this.#project = encodeURIComponent(projectId).replaceAll('.', '%2E');
    this.#timer = setInterval(() => {
      try {
        this.#writeLock();
        later(() => this.#adopt());
      } catch {
        // `append` and `settle` report problems of the disk.
      }
    }, beatMs);
    this.#timer.unref();
    return this.#adopt();
  }

  append(query: QueuedQuery): void {
    if (platform.now() - this.#beatAtMs > renewMs) this.#writeLock();
    if (this.#file === undefined) {
      this.#path = this.#newPath();
      this.#file = openSync(this.#path, 'a', 0o600);
    }
    const line = this.#isCut ? `\n${toLine(query)}` : toLine(query);
    this.#isCut = true;
    writeFileSync(this.#file, line);
    this.#lines++;
    if (this.#fsync) fsyncSync(this.#file);
    this.#isCut = false;
    if (this.#fsync) this.#flushName();
  }

  settle(waiting: readonly QueuedQuery[]): void {
    const problem = this.#problem;
    this.#problem = undefined;
    this.#drop(waiting);
    if (problem !== undefined) throw problem;
  }

  #drop(waiting: readonly QueuedQuery[]): void {
    if (waiting.length === 0) {
      if (this.#file !== undefined) ftruncateSync(this.#file);
      for (const path of this.#adopted.splice(0)) rmSync(path, { force: true });
      this.#lines = 0;
    } else if (this.#lines - waiting.length > Math.max(settledMax, waiting.length)) this.#rewrite(waiting);
  }

  close(): void {
    clearInterval(this.#timer);
    const isEmpty = this.#file !== undefined && this.#lines === 0;
    this.#closeFile();
    if (isEmpty) rmSync(this.#path, { force: true });
    rmSync(this.#lockPath(this.#owner), { force: true });
  }

  #lockPath(owner: string): string {
    return `${this.#folder}/${owner}.lock`;
  }

  #newPath(): string {
    return `${this.#folder}/${this.#owner}.${this.#number++}.${this.#project}.ndjson`;
  }

  #closeFile(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
    this.#isCut = false;
    this.#isNamed = false;
  }

  /** Returns the time of this moment by the clock of the disk, which all owners share. */
  #writeLock(): number {
    let lock: number;
    try {
      lock = openSync(this.#lockPath(this.#owner), 'r+');
    } catch (error) {
      ignore('ENOENT', error);
      this.#closeFile();
      this.#adopted = [];
      this.#lines = 0;
      this.#owner = crypto.randomUUID();
      lock = openSync(this.#lockPath(this.#owner), 'wx', 0o600);
    }
    try {
      writeFileSync(lock, `${process.pid} ${placeOfProcess()}`);
      this.#beatAtMs = platform.now();
      return fstatSync(lock).mtimeMs;
    } finally {
      closeSync(lock);
    }
  }

  /** Takes the files of owners that are gone. Returns the queries in them. */
  #adopt(): readonly QueuedQuery[] {
    const nowMs = this.#writeLock();
    let queries: readonly QueuedQuery[] = [];
    let problem: unknown;
    const gone = new Map([[this.#owner, false]]);
    for (const name of readdirSync(this.#folder)) {
      const [, owner, project] = namePattern.exec(name) ?? [];
      if (owner === undefined) continue;
      try {
        const isGone = gone.get(owner) ?? this.#isGone(owner, nowMs);
        gone.set(owner, isGone);
        if (isGone) rmSync(this.#lockPath(owner), { force: true });
        if (isGone && (project === this.#project || project === ''))
          queries = [...queries, ...this.#take(name)];
      } catch (error) {
        problem ??= error;
      }
    }
    // Even if one file cannot be taken, the others must be sent.
    if (queries.length === 0 && problem !== undefined) throw problem;
    this.#problem = problem;
    return queries;
  }

  #isGone(owner: string, nowMs: number): boolean {
    const lock = this.#lockPath(owner);
    try {
      const [pid, place] = readFileSync(lock, 'utf8').split(' ');
      const isHere = place !== undefined && place !== '' && place === placeOfProcess();
      return (isHere && !isRunning(Number(pid))) || nowMs - statSync(lock).mtimeMs > goneMs;
    } catch (error) {
      ignore('ENOENT', error);
      return true;
    }
  }

  /** Renames a file to a name of this owner, unless another has done that. Returns the queries in it. */
  #take(name: string): readonly QueuedQuery[] {
    const path = this.#newPath();
    try {
      renameSync(`${this.#folder}/${name}`, path);
    } catch (error) {
      ignore('ENOENT', error);
      return [];
    }
    try {
      const queries = parseLines(readFileSync(path, 'utf8'));
      this.#adopted.push(path);
      this.#lines += queries.length;
      return queries;
    } catch (error) {
      // Whoever can read it takes it later.
      renameSync(path, `${this.#folder}/${name}`);
      throw error;
    }
  }

  /** Begins another file with these queries, and then removes the other ones, so that the spool is complete at all times. */
  #rewrite(queries: readonly QueuedQuery[]): void {
    const path = this.#newPath();
    const file = openSync(path, 'a', 0o600);
    try {
      writeFileSync(file, queries.map(toLine).join(''));
      fsyncSync(file);
      flushNames(this.#folder);
    } catch (error) {
      closeSync(file);
      rmSync(path, { force: true });
      throw error;
    }
    const old = this.#file === undefined ? this.#adopted : [...this.#adopted, this.#path];
    this.#closeFile();
    this.#file = file;
    this.#path = path;
    this.#isNamed = true;
    this.#adopted = [];
    this.#lines = queries.length;
    for (const one of old) rmSync(one, { force: true });
  }

  #flushName(): void {
    if (this.#isNamed) return;
    flushNames(this.#folder);
    flushNames(this.#folder.replace(/[^/]*$/, '') || '.');
    this.#isNamed = true;
  }
}

/** Makes the folder, and moves the file of an earlier version into it. Returns a path that is valid in every working folder. */
function makeFolder(path: string): string {
  const ending = '.caller-stats-moved';
  const [real, isFile] = existsSync(path) ? [realpathSync(path), statSync(path).isFile()] : [path, false];
  try {
    if (isFile) renameSync(real, real + ending);
    mkdirSync(real, 0o700);
  } catch (error) {
    ignore('EEXIST', error);
  }
  const folder = realpathSync(real);
  if (existsSync(folder + ending)) {
    renameSync(folder + ending, `${folder}/${crypto.randomUUID()}.0..ndjson`);
    for (const other of ['.lock', '.new']) rmSync(folder + other, { force: true });
  }
  return folder;
}

/** Throws an error again unless it has this code. */
function ignore(code: string, error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== code) throw error;
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

function parseLines(text: string): QueuedQuery[] {
  return text.split('\n').flatMap((line) => {
    try {
      const query = JSON.parse(line) as QueuedQuery | null;
      return query?.id === undefined ? [] : [query];
    } catch {
      return [];
    }
  });
}

/** Where the id of this process means this process. Empty if that is not known: on Linux, containers have ids of their own. */
function placeOfProcess(): string {
  if (process.platform !== 'linux') return process.platform;
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot}/${readlinkSync('/proc/self/ns/pid')}`;
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
