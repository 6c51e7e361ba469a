/**
 * Runs the built program. Commands and servers run within the test's process, which saves most of their time. In tests of
 * signals, terminals, time zones and several processes, and in those of the executable, they run as processes of their own.
 */
import { randomInt } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { Readable, Writable } from 'node:stream';
import type * as Program from '../../../src/cli/program.js';
import { whenOver } from '../cleanup.js';
import { requireNoKey } from '../secrets.js';
import {
  executable,
  kill,
  matching,
  type Outcome,
  PROGRAM,
  printsFirstRun,
  type Running,
  type RunOptions,
  startProcess,
  urlIn,
} from './process.js';

export {
  type FirstRun,
  firstRunOf,
  kill,
  matched,
  type Outcome,
  PROGRAM,
  programFile,
  programInShell,
  type Running,
  type RunOptions,
  urlIn,
} from './process.js';

/** Servers run as long as the tests that share them. */
const serverHangMs = 1_000_000;

const packageFolder = new URL('../../../', import.meta.url);
const { version } = JSON.parse(readFileSync(new URL('package.json', packageFolder), 'utf8')) as {
  version: string;
};

export type CliOptions = Pick<RunOptions, 'cwd' | 'env' | 'input'>;

/** Runs a command within this process. */
export function runCli(
  args: readonly string[],
  { cwd = tmpdir(), env = {}, input = '' }: CliOptions = {},
): Promise<Outcome> {
  if (executable !== undefined) return spawnCli(args, { cwd, env, input });
  return inFolder(cwd, () => runHere(args, { env, input }));
}

interface Here extends Required<Pick<RunOptions, 'env' | 'input'>> {
  readonly stdout?: Output;
  readonly stderr?: Output;
  /** Resolves when a server shall stop. */
  readonly stop?: Promise<string>;
}

async function runHere(
  args: readonly string[],
  { env, input, stdout = new Output(), stderr = new Output(), stop = new Promise<string>(() => {}) }: Here,
): Promise<Outcome> {
  const program = new URL('../../../dist/program.js', import.meta.url).href;
  const { run } = (await import(program)) as typeof Program;
  const io = {
    ...{ stdout, stderr, stdin: Readable.from([Buffer.from(input)]), env: { ...printsFirstRun, ...env } },
    ...{ stdoutIsTerminal: false, interactive: false, colors: false, randomInt },
    clock: { now: () => Date.now() },
    monotonicMs: () => performance.now(),
    stopRequested: () => stop,
    onHangup: () => undefined,
    packageFolder,
  };
  const status = await run(args, io, version);
  requireNoKey(stderr.text, [], `stderr of ${args.join(' ')}`);
  return { status, signal: null, stdout: stdout.text, stderr: stderr.text };
}

/** The working directory of commands. All that run at the same time share it. */
let shared:
  | { readonly folder: string; commands: number; readonly free: Promise<void>; leave: () => void }
  | undefined;

/** Runs `work` in a folder, as soon as no other folder is in use. */
async function inFolder<T>(folder: string, work: () => Promise<T>): Promise<T> {
  while (shared !== undefined && shared.folder !== folder) await shared.free;
  if (shared === undefined) {
    const before = process.cwd();
    let resolve = () => {};
    const free = new Promise<void>((done) => {
      resolve = done;
    });
    process.chdir(folder);
    shared = {
      ...{ folder, commands: 0, free },
      leave: () => {
        process.chdir(before);
        shared = undefined;
        resolve();
      },
    };
  }
  const mine = shared;
  mine.commands++;
  try {
    return await work();
  } finally {
    if (--mine.commands === 0) mine.leave();
  }
}

/** Runs a command as a process of its own. */
export function spawnCli(args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  const [command, ...first] = PROGRAM;
  return runCommand(command, [...first, ...args], options);
}

/** Collects what is written to it. */
class Output extends Writable {
  readonly #chunks: Buffer[] = [];
  readonly #onMore: (text: string) => void;

  /** `onMore` is called with the whole text after each write. */
  constructor(onMore: (text: string) => void = () => {}) {
    super();
    this.#onMore = onMore;
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString('utf8');
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#chunks.push(chunk);
    this.#onMore(this.text);
    done();
  }
}

/** Runs any program. */
export function runCommand(
  command: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Outcome> {
  return start(command, args, options).ended;
}

/** Starts the program, which is killed after the test. */
export function startCli(args: readonly string[], options: RunOptions = {}): Running {
  const [command, ...first] = PROGRAM;
  return startCommand(command, [...first, ...args], options);
}

/** Starts any program, which is killed after the test. */
export function startCommand(command: string, args: readonly string[], options: RunOptions = {}): Running {
  const running = start(command, args, options);
  whenOver(async () => {
    kill(running.pid, 'SIGKILL');
    await running.ended;
  });
  return running;
}

export interface Server {
  readonly url: string;
  /** Its output until it was ready. */
  readonly stdout: string;
  readonly ended: Promise<Outcome>;
  /** Waits until stderr matches, and returns it. Rejects if the process ends before. */
  readonly logged: Running['logged'];
  /** Stops it as SIGTERM does, and waits for its end. */
  readonly stop: () => Promise<Outcome>;
}

export interface ServerProcess extends Server {
  readonly pid: number;
  /** Sends a signal and waits for the end of the process. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<Outcome>;
}

export interface ServerOptions extends RunOptions {
  /** Options of Node, which the executable does not take. */
  readonly node?: readonly string[];
}

/** Starts a server on a free port within this process, waits until it is ready, and stops it after the test. */
export function hostServer(
  args: readonly string[] = [],
  { cwd = tmpdir(), env = {} }: CliOptions = {},
): Promise<Server> {
  if (executable !== undefined) return startServer(args, { cwd, env });
  return inFolder(cwd, async () => {
    const server = new EventEmitter();
    const output = { stdout: '', stderr: '' };
    const collect = (name: keyof typeof output) =>
      new Output((text) => {
        output[name] = text;
        server.emit(`more ${name}`);
      });
    const ended = runHere(['serve', '--port', '0', ...args], {
      ...{ env, input: '', stdout: collect('stdout'), stderr: collect('stderr') },
      stop: once(server, 'stop').then(() => 'SIGTERM'),
    });
    const end = () => {
      server.emit('stop');
      return ended;
    };
    whenOver(end);
    const started = await matching(server, 'stdout', READY, output, ended);
    const logged = (pattern: RegExp) => matching(server, 'stderr', pattern, output, ended);
    return { url: urlIn(started), stdout: started, ended, logged, stop: end };
  });
}

const READY = /^Documentation: .+\n/m;

/** Starts a server on a free port as a process of its own and waits until it is ready. */
export async function startServer(
  args: readonly string[] = [],
  { node = [], ...options }: ServerOptions = {},
): Promise<ServerProcess> {
  const [command, ...first] = PROGRAM;
  const all = [...node, ...first, 'serve', '--port', '0', ...args];
  const running = startCommand(command, all, { hangMs: serverHangMs, ...options });
  const stdout = await running.printed(READY);
  return {
    url: urlIn(stdout),
    pid: running.pid,
    stdout,
    ended: running.ended,
    logged: running.logged,
    stop: (signal = 'SIGTERM') => {
      kill(running.pid, signal);
      return running.ended;
    },
  };
}

/** What a server prints if there are projects and no users. */
export const LATER_START =
  /^caller-stats listens on \S+\nTime zones: IANA time zone database \d{4}[a-z], .+\nSet up the dashboard \(this link creates its first owner, and works once\):\n {2}https?:\/\/\S+\/set-up#[0-9A-Za-z]{43}\nDocumentation: \S+\n$/;

/** Runs `work` for each item, a few at a time. */
export async function inGroups<T, R>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += atOnce) {
    results.push(...(await Promise.all(items.slice(at, at + atOnce).map(work))));
  }
  return results;
}

function start(command: string, args: readonly string[], options: RunOptions): Running {
  const running = startProcess(command, args, options);
  const ended = running.ended.then((outcome) => {
    // Keys may only be printed as results, to stdout.
    requireNoKey(outcome.stderr, [], `stderr of ${command}`);
    return outcome;
  });
  return { ...running, ended };
}
