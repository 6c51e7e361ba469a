/** Runs the built program as people do: as processes, with arguments, environment and input of their own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { whenOver } from './cleanup.js';
import { requireNoKey } from './secrets.js';

/** `globalSetup` builds it. */
export const programFile = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

/** Ends a process that hangs, so that it fails its test and not the whole run. */
const commandHangMs = 100_000;

/** A server runs for as long as the tests that share it. */
const serverHangMs = 1_000_000;

export interface RunOptions {
  /** All the process gets beside `PATH`: the settings of whoever runs the tests stay out. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly input?: string | Uint8Array;
  /** After so long the process is taken for hanging, and ended. */
  readonly hangMs?: number;
}

export interface Outcome {
  /** Null where a signal ended the process. */
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the program to its end. */
export function runCli(args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  return runCommand(process.execPath, [programFile, ...args], options);
}

/** Runs any program to its end. */
export function runCommand(
  command: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Outcome> {
  return start(command, args, options).ended;
}

/** A process under way. */
export interface Running {
  readonly pid: number;
  readonly ended: Promise<Outcome>;
  /** Resolves with what stdout held when it first matched; rejects if the process ends without. */
  readonly printed: (pattern: RegExp) => Promise<string>;
}

/** Starts the program; it is gone when the test is over. */
export function startCli(args: readonly string[], options: RunOptions = {}): Running {
  return startCommand(process.execPath, [programFile, ...args], options);
}

/** Starts any program; it is gone when the test is over. */
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
  readonly pid: number;
  /** Everything printed until it was ready. */
  readonly stdout: string;
  readonly ended: Promise<Outcome>;
  /** Sends the signal, once, and resolves when the process is gone. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<Outcome>;
}

/** Starts a server on a free port, and resolves when it has said all that it says at its start. */
export async function startServer(args: readonly string[] = [], options: RunOptions = {}): Promise<Server> {
  const running = startCli(['serve', '--port', '0', ...args], { hangMs: serverHangMs, ...options });
  const stdout = await running.printed(/^API documentation: .+\n/m);
  return {
    url: urlIn(stdout),
    pid: running.pid,
    stdout,
    ended: running.ended,
    stop: (signal = 'SIGTERM') => {
      kill(running.pid, signal);
      return running.ended;
    },
  };
}

/** The address in the line that a server prints once it listens. */
export function urlIn(stdout: string): string {
  return matched(stdout, /^caller-stats listens on (http:\/\/\S+)$/m);
}

/** All that a server prints where there are projects already, and nobody can sign in yet. */
export const LATER_START =
  /^caller-stats listens on \S+\nSet up the dashboard \(this address makes its first owner, and works once\):\n {2}http:\/\/\S+\/set-up#[0-9A-Za-z]{43}\nAPI documentation: \S+\n$/;

export interface FirstRun {
  readonly project: string;
  readonly admin: string;
  readonly recording: string;
}

/** What the first run made, read from what it printed. */
export function firstRunOf({ stdout }: Pick<Server, 'stdout'>): FirstRun {
  return {
    project: matched(stdout, /^ {2}project +(\S+)$/m),
    admin: matched(stdout, /^ {2}admin key +(\S+)$/m),
    recording: matched(stdout, /^ {2}recording key +(\S+)$/m),
  };
}

/** Sends a signal to one process; nothing where it is gone already. */
export function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Does `work` for each item, a few at a time: a process takes a while to start. */
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

/** The first group of a pattern that must match. */
export function matched(text: string, pattern: RegExp): string {
  const group = pattern.exec(text)?.[1];
  if (group === undefined) throw new Error(`${pattern} is not in: ${text}`);
  return group;
}

function start(
  command: string,
  args: readonly string[],
  { env, cwd, input, hangMs = commandHangMs }: RunOptions,
): Running {
  const child = spawn(command, args, {
    cwd,
    env: { PATH: process.env['PATH'], ...env },
    stdio: 'pipe',
    timeout: hangMs,
    killSignal: 'SIGKILL',
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${command} cannot be started`);
  // A program that refuses its arguments does not read its input.
  child.stdin.on('error', () => {});
  child.stdin.end(input ?? '');
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
      child.emit(`more ${name}`);
    });
  }
  const ended = new Promise<Outcome>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status, signal) => resolve({ status, signal, ...output }));
  }).then((outcome) => {
    // Logs, errors and progress; what a command prints of a key is its result, and goes to stdout.
    requireNoKey(outcome.stderr, [], `what ${command} says on stderr`);
    return outcome;
  });
  return { pid, ended, printed: (pattern) => printed(child, pattern, output, ended) };
}

async function printed(
  child: ChildProcess,
  pattern: RegExp,
  output: Readonly<Record<'stdout', string>>,
  ended: Promise<Outcome>,
): Promise<string> {
  const found = new Promise<string>((resolve) => {
    const look = () => {
      if (pattern.test(output.stdout)) resolve(output.stdout);
    };
    child.on('more stdout', look);
    look();
  });
  const over = ended.then((outcome) => {
    if (pattern.test(outcome.stdout)) return outcome.stdout;
    throw new Error(`it ended without printing ${pattern}: ${JSON.stringify(outcome)}`);
  });
  return Promise.race([found, over]);
}
