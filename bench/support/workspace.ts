/**
 * A temporary folder and the processes of a benchmark: gone when it ends, however it ends, so that no run leaves a
 * server behind to slow down the next.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';

/** A program that ran to its end. */
export interface Finished {
  readonly stdout: string;
  /** From before its start to its exit, in seconds. */
  readonly seconds: number;
  /** The most memory it had at once, in bytes; undefined on systems that do not say (only Linux does). */
  readonly peakBytes: number | undefined;
}

/** A server process that answers on loopback. */
export interface Server {
  readonly url: string;
  readonly pid: number;
}

const startMsMax = 30_000;
const runMsMax = 1_800_000;
/** Between two looks at a program's memory: the most it had is kept by the system, so only its last moment is missed. */
const lookMs = 100;

/** The built service: what users run, not its source. */
export const mainFile = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

/** What Node is given to run a program of `bench/support`. */
export function programOf(name: string): string[] {
  return ['--import', import.meta.resolve('tsx'), fileURLToPath(new URL(`./${name}.ts`, import.meta.url))];
}

/** Runs `work` with a workspace that is taken down afterwards, also at SIGINT and SIGTERM. */
export async function withWorkspace<T>(work: (workspace: Workspace) => Promise<T>): Promise<T> {
  if (!existsSync(mainFile)) {
    throw new Error('The benchmarks measure the built service, and there is none; run npm run build first.');
  }
  const workspace = new Workspace();
  const remove = (): void => workspace.remove();
  const interrupt = (): never => process.exit(130);
  process.once('exit', remove).once('SIGINT', interrupt).once('SIGTERM', interrupt);
  try {
    return await work(workspace);
  } finally {
    process.off('exit', remove).off('SIGINT', interrupt).off('SIGTERM', interrupt);
    workspace.remove();
  }
}

export class Workspace {
  readonly folder = mkdtempSync(join(tmpdir(), 'caller-stats-bench-'));
  readonly #running = new Set<ChildProcess>();

  path(name: string): string {
    return join(this.folder, name);
  }

  /** Runs a program to its end. Throws where it fails. */
  async run(program: string, args: readonly string[], stdin: Iterable<string> = []): Promise<Finished> {
    const startedAt = performance.now();
    const child = this.#spawn(program, args);
    const timeout = setTimeout(() => child.kill('SIGKILL'), runMsMax);
    let peakBytes: number | undefined;
    const looks = setInterval(() => {
      peakBytes = peakBytesOf(child.pid) ?? peakBytes;
    }, lookMs);
    try {
      const output = text(child.stdout);
      // A program may end without having read all; its status tells whether it should have.
      pipeline(Readable.from(stdin), child.stdin).catch(() => {});
      const [status] = (await once(child, 'exit')) as [number | null];
      const seconds = (performance.now() - startedAt) / 1000;
      if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with status ${status}`);
      return { stdout: await output, seconds, peakBytes };
    } finally {
      clearTimeout(timeout);
      clearInterval(looks);
    }
  }

  /** Starts a Node program that prints its address once it listens. */
  async start(args: readonly string[]): Promise<Server> {
    const child = this.#spawn(process.execPath, args);
    const timeout = setTimeout(() => child.kill('SIGKILL'), startMsMax);
    const url = await addressIn(child.stdout);
    clearTimeout(timeout);
    if (url === undefined || child.pid === undefined) throw new Error(`${args.join(' ')} did not start`);
    // Goes on reading, so that the server never waits for us.
    child.stdout.resume();
    return { url, pid: child.pid };
  }

  /** Lets a server finish, as an operator would, and waits until it has. */
  async finish({ pid }: Server): Promise<void> {
    const child = [...this.#running].find((one) => one.pid === pid);
    if (child === undefined) return;
    const end = once(child, 'exit');
    child.kill('SIGTERM');
    await end;
  }

  /** Ends what was started and runs still, so that it is in nobody's way. */
  async stop(): Promise<void> {
    const ends = [...this.#running].map((child) => once(child, 'exit'));
    this.#kill();
    await Promise.all(ends);
  }

  remove(): void {
    this.#kill();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Kills, rather than stops: nothing of what they did is wanted. */
  #kill(): void {
    for (const child of this.#running) child.kill('SIGKILL');
  }

  #spawn(program: string, args: readonly string[]) {
    // What it complains about is for whoever runs the benchmark to see.
    const child = spawn(program, args, { cwd: this.folder, stdio: ['pipe', 'pipe', 'inherit'] });
    this.#running.add(child);
    child.once('exit', () => this.#running.delete(child));
    // Without listeners these would end us; whoever waits for the process hears of its end anyway.
    child.once('error', () => this.#running.delete(child));
    child.stdin.on('error', () => {});
    return child;
  }
}

/** What Linux keeps as the most that a process ever had in memory; undefined elsewhere, and where it is gone. */
function peakBytesOf(pid: number | undefined): number | undefined {
  try {
    const kibibytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
  } catch {
    return undefined;
  }
}

/** The first address in what a server prints; undefined where it ends without one. */
async function addressIn(stdout: Readable): Promise<string | undefined> {
  const lines = createInterface({ input: stdout });
  for await (const line of lines) {
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0];
    if (url !== undefined) return url;
  }
  return undefined;
}
