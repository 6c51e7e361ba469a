/** A server process of the built service, on a database of its own, for as long as it is fuzzed. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { residentBytesOf } from '../support/resident-memory.js';
import { type Keys, PROJECTS } from './world.js';

const mainFile = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

/** A server that leaks reaches this instead of all the machine has; one that works needs a fraction. */
const heapMegabytesMax = 200;

/** What a server may say on stderr while it is fuzzed: that it left out spans which are no valid queries. */
const EXPECTED_LINE = /"msg":"(spans|log records) were rejected"/;

export class FuzzService {
  readonly folder = mkdtempSync(join(tmpdir(), 'caller-stats-fuzz-'));
  readonly #child: ChildProcess;
  port = 0;
  /** Lines of stderr that it should not have said. */
  readonly complaints: string[] = [];

  private constructor() {
    this.#child = spawn(
      process.execPath,
      [
        `--max-old-space-size=${heapMegabytesMax}`,
        mainFile,
        'serve',
        '--port',
        '0',
        '--failures-per-minute',
        '0',
        '--log-level',
        'warn',
      ],
      // Of a group of its own, so that Ctrl-C in a terminal ends the sending, and not the server that is to be checked.
      { env: this.#env, stdio: ['ignore', 'pipe', 'pipe'], detached: true },
    );
    process.once('exit', this.#end);
  }

  /** Starts it, with a project and keys for each use. */
  static async start(): Promise<{ service: FuzzService; keys: Keys }> {
    if (!existsSync(mainFile))
      throw new Error('The built service is fuzzed, and there is none; run npm run build first.');
    const service = new FuzzService();
    try {
      await service.#listen();
      return { service, keys: await service.#makeKeys() };
    } catch (error) {
      await service.remove();
      throw error;
    }
  }

  get #env() {
    return { PATH: process.env['PATH'], DATABASE_URL: `sqlite:${join(this.folder, 'fuzz.db')}` };
  }

  readonly #end = (): void => {
    this.#child.kill('SIGKILL');
  };

  get alive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Bytes of memory that the process has; undefined where the system does not say (only Linux does). */
  memoryBytes(): number | undefined {
    return residentBytesOf(this.#child.pid);
  }

  /** Open files and connections; undefined as above. */
  descriptors(): number | undefined {
    const folder = `/proc/${this.#child.pid}/fd`;
    return existsSync(folder) ? readdirSync(folder).length : undefined;
  }

  /** Ends the process as an operator would; its exit status. */
  async stop(): Promise<number | null> {
    if (this.alive) {
      this.#child.kill('SIGTERM');
      await once(this.#child, 'exit');
    }
    return this.#child.exitCode;
  }

  async remove(): Promise<void> {
    process.off('exit', this.#end);
    if (this.alive) {
      this.#child.kill('SIGKILL');
      await once(this.#child, 'exit');
    }
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Runs a command on the same database; what it printed. Rejects unless it ends with 0. */
  async run(...args: string[]): Promise<string> {
    const child = spawn(process.execPath, [mainFile, ...args], {
      env: this.#env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [stdout, stderr, [status]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'exit'),
    ]);
    if (status !== 0)
      throw new Error(`${args.slice(0, 2).join(' ')} ended with ${status}: ${stdout}${stderr}`);
    return stdout;
  }

  async #listen(): Promise<void> {
    let rest = '';
    this.#child.stderr?.setEncoding('utf8').on('data', (piece: string) => {
      const lines = `${rest}${piece}`.split('\n');
      rest = lines.pop() ?? '';
      this.complaints.push(...lines.filter((line) => !EXPECTED_LINE.test(line)));
    });
    let stdout = '';
    const exited = once(this.#child, 'exit').then(() => {
      throw new Error(`the server ended at its start: ${stdout}${this.complaints.join('\n')}`);
    });
    const listening = new Promise<void>((resolve) => {
      this.#child.stdout?.setEncoding('utf8').on('data', (piece: string) => {
        stdout += piece;
        if (/^Documentation: .+\n/m.test(stdout)) resolve();
      });
    });
    exited.catch(() => {});
    await Promise.race([listening, exited]);
    this.port = Number(/^caller-stats listens on http:\/\/\S+:(\d+)$/m.exec(stdout)?.[1]);
  }

  async #makeKeys(): Promise<Keys> {
    for (const id of Object.values(PROJECTS)) await this.run('project', 'create', id, '--id', id);
    const make = async (name: string, ...more: string[]): Promise<string> =>
      (await this.run('key', 'create', '--name', name, ...more)).trim();
    const revoked = await make('revoked');
    const listed = JSON.parse(await this.run('key', 'list', '--json')) as { id: string; name: string }[];
    await this.run('key', 'revoke', listed.find(({ name }) => name === 'revoked')?.id ?? '');
    return {
      admin: await make('admin'),
      readOnly: await make('read only', '--scope', 'read'),
      recording: {
        events: await make('events', '--type', 'recording', '--project', PROJECTS.events),
        counted: await make('counted', '--type', 'recording', '--project', PROJECTS.counted),
      },
      revoked,
    };
  }
}
