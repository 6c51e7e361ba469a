/** Processes and how they ended; with the built program's file, and what is read from what it prints. Knows no test runner. */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The build makes it. */
export const programFile = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

/** Ends a process that hangs, so that it fails its test and not the whole run. */
const commandHangMs = 100_000;

export interface RunOptions {
  /** All the process gets beside `PATH`: the settings of whoever runs the tests stay out. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly input?: string | Uint8Array;
  /** After so long the process is taken for hanging, and ended; 0 for never. */
  readonly hangMs?: number;
  /** Runs it in its own process group, so that Ctrl-C in a terminal does not end it. */
  readonly detached?: boolean;
}

export interface Outcome {
  /** Null where a signal ended the process. */
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A process under way. */
export interface Running {
  readonly pid: number;
  readonly ended: Promise<Outcome>;
  /** Resolves with what stdout held when it first matched; rejects if the process ends without. */
  readonly printed: (pattern: RegExp) => Promise<string>;
  /** The same of stderr. */
  readonly logged: (pattern: RegExp) => Promise<string>;
}

/** Starts a program with pipes for its output. Whoever starts it sees to its end. */
export function startProcess(
  command: string,
  args: readonly string[],
  { env, cwd, input, hangMs = commandHangMs, detached = false }: RunOptions,
): Running {
  const child = spawn(command, args, {
    cwd,
    env: { PATH: process.env['PATH'], ...env },
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

async function matching(
  child: ChildProcess,
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

/** What the first run made, read from what it printed. */
export function firstRunOf({ stdout }: Pick<Outcome, 'stdout'>): FirstRun {
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

/** The first group of a pattern that must match. */
export function matched(text: string, pattern: RegExp): string {
  const group = pattern.exec(text)?.[1];
  if (group === undefined) throw new Error(`${pattern} is not in: ${text}`);
  return group;
}
