/** The built server that is fuzzed, as a process with its own database. */

import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCli } from '../support/cli/cli.js';
import {
  kill,
  type Outcome,
  programFile,
  type Running,
  startProcess,
  urlIn,
} from '../support/cli/process.js';
import { residentBytesOf } from '../support/resident-memory.js';
import { type Keys, PROJECTS } from './world.js';

/** A server that leaks fails here before it takes all memory; normally it needs a fraction of this. */
const heapMegabytesMax = 200;

export class FuzzService {
  readonly port: number;
  readonly #folder: string;
  readonly #server: Running;
  #alive = true;

  /** Starts a server, with projects and keys in its database. */
  static async start(): Promise<{ service: FuzzService; keys: Keys }> {
    const folder = await mkdtemp(join(tmpdir(), 'caller-stats-fuzz-'));
    const keys = await createKeys(folder);
    const serve = ['serve', '--port', '0', '--failures-per-minute', '0', '--log-level', 'warn'];
    const args = [`--max-old-space-size=${heapMegabytesMax}`, programFile, ...serve];
    // In its own process group, so that Ctrl-C in a terminal does not end the server, which is still to be checked.
    const server = startProcess(process.execPath, args, { ...options(folder), hangMs: 0, detached: true });
    const stdout = await server.printed(/^Documentation: .+\n/m);
    return { service: new FuzzService(folder, server, Number(new URL(urlIn(stdout)).port)), keys };
  }

  private constructor(folder: string, server: Running, port: number) {
    this.#folder = folder;
    this.#server = server;
    this.port = port;
    process.once('exit', this.#kill);
    void server.ended.then(() => {
      this.#alive = false;
    });
  }

  readonly #kill = (): void => kill(this.#server.pid, 'SIGKILL');

  get alive(): boolean {
    return this.#alive;
  }

  /** Resident memory of the process; undefined except on Linux. */
  memoryBytes(): number | undefined {
    return residentBytesOf(this.#server.pid);
  }

  /** Open files and connections; undefined except on Linux. */
  descriptors(): number | undefined {
    const folder = `/proc/${this.#server.pid}/fd`;
    return existsSync(folder) ? readdirSync(folder).length : undefined;
  }

  /** Stops the process with SIGTERM. */
  stop(): Promise<Outcome> {
    if (this.#alive) kill(this.#server.pid, 'SIGTERM');
    return this.#server.ended;
  }

  /** Recounts the database with `verify`. */
  verify(): Promise<Outcome> {
    return runCli(['verify'], options(this.#folder));
  }

  async remove(): Promise<void> {
    process.off('exit', this.#kill);
    if (this.#alive) this.#kill();
    await this.#server.ended;
    await rm(this.#folder, { recursive: true });
  }
}

/** In this process's folder, because `npm run fuzz` runs TypeScript with a package that is found from there. */
const options = (folder: string) => ({
  cwd: process.cwd(),
  env: { DATABASE_URL: `sqlite:${join(folder, 'fuzz.db')}` },
});

async function createKeys(folder: string): Promise<Keys> {
  const run = async (...args: string[]): Promise<string> => {
    const { status, stdout, stderr } = await runCli(args, options(folder));
    if (status !== 0) throw new Error(`${args.join(' ')}: ${stderr}`);
    return stdout;
  };
  for (const id of Object.values(PROJECTS)) await run('project', 'create', id, '--id', id);
  const create = async (name: string, ...more: string[]): Promise<string> =>
    (await run('key', 'create', '--name', name, ...more)).trim();
  const revoked = await create('revoked');
  const [{ id }] = JSON.parse(await run('key', 'list', '--json')) as [{ id: string }];
  await run('key', 'revoke', id);
  return {
    admin: await create('admin'),
    readOnly: await create('read only', '--scope', 'read'),
    recording: {
      events: await create('events', '--type', 'recording', '--project', PROJECTS.events),
      counted: await create('counted', '--type', 'recording', '--project', PROJECTS.counted),
    },
    revoked,
  };
}
