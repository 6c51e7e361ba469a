/**
 * The temporary folder and the processes of a benchmark. Both are removed however the benchmark ends, so that no server
 * is left behind to slow down the next run.
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

/** A program that has ended. */
export interface Finished {
  readonly stdout: string;
  /** Seconds from its start to its exit. */
  readonly seconds: number;
  /** Peak memory in bytes; undefined except on Linux. */
  readonly peakBytes: number | undefined;
}

/** A server process on the loopback interface. */
export interface Server {
  readonly url: string;
  readonly pid: number;
}

const startMsMax = 30_000;
const runMsMax = 7_200_000;
/** Poll interval for a program's peak memory. The kernel keeps the peak, so only the last moment can be missed. */
const lookMs = 100;

/** The built service, which is what users run. */
export const mainFile = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

/** Node's arguments to run a program of `bench/support`. */
export function programArguments(name: string): string[] {
  return ['--import', import.meta.resolve('tsx'), fileURLToPath(new URL(`./${name}.ts`, import.meta.url))];
}

/** Runs `work` with a workspace that is removed afterwards, also after SIGINT and SIGTERM. */
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

  /** Runs a program to its end. Throws if it fails. */
  async run(program: string, args: readonly string[], stdin: Iterable<string> = []): Promise<Finished> {
    const startedAt = performance.now();
    const child = this.#spawn(program, args);
    const timeout = setTimeout(() => child.kill('SIGKILL'), runMsMax);
    let peakBytes: number | undefined;
    const looks = setInterval(() => {
      peakBytes = readPeakBytes(child.pid) ?? peakBytes;
    }, lookMs);
    try {
      const output = text(child.stdout);
      // A program may exit before it has read its whole input; the status tells whether that is an error.
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

  /** Starts a program, Node by default, that prints its URL once it listens. */
  async start(args: readonly string[], program = process.execPath): Promise<Server> {
    const child = this.#spawn(program, args);
    const timeout = setTimeout(() => child.kill('SIGKILL'), startMsMax);
    const url = await addressIn(child.stdout);
    clearTimeout(timeout);
    if (url === undefined || child.pid === undefined) throw new Error(`${args.join(' ')} did not start`);
    // Keep reading, so that the server never blocks on its output.
    child.stdout.resume();
    return { url, pid: child.pid };
  }

  /** Starts a server, and stops it. Returns the milliseconds from its start until `/readyz` responds with 200. */
  async msUntilReady(start: () => Promise<Server>): Promise<number> {
    const begin = performance.now();
    const { url } = await start();
    const ready = await fetch(`${url}/readyz`);
    const tookMs = performance.now() - begin;
    if (ready.status !== 200) throw new Error(`/readyz: ${ready.status}`);
    await this.stop();
    return tookMs;
  }

  /** Stops a server gracefully and waits until it has ended. */
  async finish({ pid }: Server): Promise<void> {
    const child = [...this.#running].find((one) => one.pid === pid);
    if (child === undefined) return;
    const end = once(child, 'exit');
    child.kill('SIGTERM');
    await end;
  }

  /** Stops a process that is still running. */
  async stop(): Promise<void> {
    const ends = [...this.#running].map((child) => once(child, 'exit'));
    this.#kill();
    await Promise.all(ends);
  }

  remove(): void {
    this.#kill();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Kills the processes: their data is not needed. */
  #kill(): void {
    for (const child of this.#running) child.kill('SIGKILL');
  }

  #spawn(program: string, args: readonly string[]) {
    // Its errors go to the terminal.
    const child = spawn(program, args, { cwd: this.folder, stdio: ['pipe', 'pipe', 'inherit'] });
    this.#running.add(child);
    child.once('exit', () => this.#running.delete(child));
    // Without listeners, errors of the child's streams would crash this process; the exit is reported anyway.
    child.once('error', () => this.#running.delete(child));
    child.stdin.on('error', () => {});
    return child;
  }
}

/** The peak memory that Linux reports; undefined elsewhere, and after the process has ended. */
function readPeakBytes(pid: number | undefined): number | undefined {
  try {
    const kibibytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
  } catch {
    return undefined;
  }
}

/** The first URL in a server's output; undefined if it ends without one. */
async function addressIn(stdout: Readable): Promise<string | undefined> {
  const lines = createInterface({ input: stdout });
  for await (const line of lines) {
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0];
    if (url !== undefined) return url;
  }
  return undefined;
}
