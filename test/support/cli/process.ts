/** Starts processes, and reads what the program prints. Does not depend on the test runner. */
import { spawn } from 'node:child_process';
import type { EventEmitter } from 'node:events';
import { fileURLToPath } from 'node:url';

/** The built program. */
export const programFile = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));

/** The executable, if the tests are to run that instead (`npm run test:deep`). */
export const executable = process.env['CALLER_STATS_TEST_EXECUTABLE'];

/** The command that starts the program. */
export const PROGRAM: readonly [command: string, ...args: string[]] =
  executable === undefined ? [process.execPath, programFile] : [executable];

/** The same for a shell. */
export const programInShell = PROGRAM.map((word) => `"${word}"`).join(' ');

/** A process that hangs is killed, so that only its test fails. */
const commandHangMs = 100_000;

/** Servers of tests print the keys of the first start, although no terminal shows them. */
export const printsFirstRun = { CALLER_STATS_FIRST_RUN_FILE: '-' };

export interface RunOptions {
  /** The environment of the process, with `PATH` and `printsFirstRun` added. It does not inherit the one of the tests. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly input?: string | Uint8Array;
  /** The time after which the process is killed; 0 for never. */
  readonly hangMs?: number;
  /** Runs it in its own process group, so that Ctrl-C in a terminal does not end it. */
  readonly detached?: boolean;
}

export interface Outcome {
  /** Null if a signal ended the process. */
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A running process. */
export interface Running {
  readonly pid: number;
  readonly ended: Promise<Outcome>;
  /** Waits until stdout matches, and returns it. Rejects if the process ends before. */
  readonly printed: (pattern: RegExp) => Promise<string>;
  /** The same for stderr. */
  readonly logged: (pattern: RegExp) => Promise<string>;
}

/** Starts a program with pipes for its output. The caller ends it. */
export function startProcess(
  command: string,
  args: readonly string[],
  { env, cwd, input, hangMs = commandHangMs, detached = false }: RunOptions,
): Running {
  const child = spawn(command, args, {
    cwd,
    env: { PATH: process.env['PATH'], ...printsFirstRun, ...env },
    stdio: 'pipe',
    timeout: hangMs,
    detached,
    killSignal: 'SIGKILL',
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${command} cannot be started`);
  // A program that refuses its arguments does not read its input.
  child.stdin.on('error', () => {});
  child.stdin.end(input ?? '');
  const output = { stdout: '', stderr: '' };
  for (const name of STREAMS) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
      child.emit(`more ${name}`);
    });
  }
  const ended = new Promise<Outcome>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status, signal) => resolve({ status, signal, ...output }));
  });
  const written = (name: Stream) => (pattern: RegExp) => matching(child, name, pattern, output, ended);
  return { pid, ended, printed: written('stdout'), logged: written('stderr') };
}

const STREAMS = ['stdout', 'stderr'] as const;

type Stream = (typeof STREAMS)[number];

/** Waits until the output in a stream, of which `child` tells, matches; rejects if it ends before. */
export async function matching(
  child: EventEmitter,
  name: Stream,
  pattern: RegExp,
  output: Readonly<Record<Stream, string>>,
  ended: Promise<Outcome>,
): Promise<string> {
  const found = new Promise<string>((resolve) => {
    const look = () => {
      if (!pattern.test(output[name])) return;
      child.off(`more ${name}`, look);
      resolve(output[name]);
    };
    child.on(`more ${name}`, look);
    look();
  });
  const over = ended.then((outcome) => {
    if (pattern.test(outcome[name])) return outcome[name];
    throw new Error(`it ended without writing ${pattern} to ${name}: ${JSON.stringify(outcome)}`);
  });
  return Promise.race([found, over]);
}

/** The address in the line that a server prints once it listens. */
export function urlIn(stdout: string): string {
  return matched(stdout, /^caller-stats listens on (http:\/\/\S+)$/m);
}

export interface FirstRun {
  readonly project: string;
  readonly admin: string;
  readonly recording: string;
}

/** Reads what the first start printed. */
export function firstRunOf({ stdout }: Pick<Outcome, 'stdout'>): FirstRun {
  return {
    project: matched(stdout, /^ {2}project +(\S+)$/m),
    admin: matched(stdout, /^ {2}admin key +(\S+)$/m),
    recording: matched(stdout, /^ {2}recording key +(\S+)$/m),
  };
}

/** Sends a signal to a process. Does nothing if it has ended. */
export function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** The first group of a pattern, which must match. */
export function matched(text: string, pattern: RegExp): string {
  const group = pattern.exec(text)?.[1];
  if (group === undefined) throw new Error(`${pattern} is not in: ${text}`);
  return group;
}
