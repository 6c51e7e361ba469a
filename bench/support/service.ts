/** The built service as its users meet it: its commands and its server, each a process of its own. */
import { readdirSync, statSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';
import { type Event, ndjsonOf } from './events.js';
import type { FILLS } from './fills.js';
import { type Finished, mainFile, programOf, type Server, type Workspace } from './workspace.js';

export const projectId = 'bench';

/** A database of the service, made with one project. */
export class Database {
  readonly #workspace: Workspace;
  readonly #url: string;

  /** `url` where it is not a file of the workspace. */
  static async create(
    workspace: Workspace,
    name: string,
    url = `sqlite:${workspace.path(name)}/caller-stats.db`,
  ): Promise<Database> {
    const database = new Database(workspace, url);
    await database.createProject(projectId);
    return database;
  }

  /** A copy of one that nobody writes to, in a folder of its own. */
  async copy(workspace: Workspace, name: string): Promise<Database> {
    const copy = new Database(workspace, `sqlite:${workspace.path(name)}/caller-stats.db`);
    await cp(this.folder, copy.folder, { recursive: true });
    return copy;
  }

  private constructor(workspace: Workspace, url: string) {
    this.#workspace = workspace;
    this.#url = url;
  }

  /** Of SQLite. */
  get file(): string {
    return this.#url.slice('sqlite:'.length);
  }

  /** Lets `work` change the file itself, where nobody else has it open. */
  change(work: (db: DatabaseSyncInstance) => void): void {
    const db = new DatabaseSync(this.file);
    try {
      work(db);
    } finally {
      db.close();
    }
  }

  /** Makes another project, and fills it with what the first one has. */
  async fill(which: keyof typeof FILLS): Promise<void> {
    await this.createProject(which);
    await this.#workspace.run(process.execPath, [...programOf('fill'), this.file, which]);
  }

  get folder(): string {
    return dirname(this.file);
  }

  /** All that it takes on disk. */
  sizeBytes(): number {
    return readdirSync(this.folder).reduce((sum, name) => sum + statSync(join(this.folder, name)).size, 0);
  }

  async createProject(id: string): Promise<void> {
    await this.#run(['project', 'create', 'Bench', '--id', id]);
  }

  /** Imports a file that must be new in all of its `lines`; gives the seconds from the command's start to its exit. */
  async import(file: string, lines: number): Promise<number> {
    return (await this.importWithPeak(file, lines)).seconds;
  }

  /** The same, and the most memory that the command had. */
  importWithPeak(file: string, lines: number): Promise<Finished> {
    return this.#import(file, lines);
  }

  /** The same of events that are made while the command runs. */
  async importEvents(events: Iterable<Event>, lines: number): Promise<number> {
    return (await this.#import('-', lines, ndjsonOf(events))).seconds;
  }

  async #import(source: string, lines: number, stdin: Iterable<string> = []): Promise<Finished> {
    const finished = await this.#run(['import', source, '--project', projectId, '--json'], stdin);
    const totals = JSON.parse(finished.stdout) as { recorded: number };
    if (totals.recorded !== lines) throw new Error(`of ${lines} lines, ${totals.recorded} were recorded`);
    return finished;
  }

  /** Recounts everything, which must agree; gives the seconds from the command's start to its exit. */
  async verify(): Promise<number> {
    return (await this.#run(['verify'])).seconds;
  }

  async createAdminKey(): Promise<string> {
    const { stdout } = await this.#run(['key', 'create', '--name', 'Bench', '--json']);
    return (JSON.parse(stdout) as { key: string }).key;
  }

  /** Runs a command on it; gives what it printed. */
  async command(...args: string[]): Promise<string> {
    return (await this.#run(args)).stdout;
  }

  /** Starts a server on it: one process, default settings but for the log and those given. */
  serve(...settings: string[]): Promise<Server> {
    return this.serveWith([], ...settings);
  }

  /** The same, with options of Node's own. */
  serveWith(nodeOptions: readonly string[], ...settings: string[]): Promise<Server> {
    return this.#workspace.start([
      ...nodeOptions,
      mainFile,
      'serve',
      '--port',
      '0',
      '--log-level',
      'warn',
      '--database',
      this.#url,
      ...settings,
    ]);
  }

  /** Imports a file, with options of Node's own. */
  importWith(nodeOptions: readonly string[], file: string): Promise<Finished> {
    return this.#run(['import', file, '--project', projectId], [], nodeOptions);
  }

  #run(
    args: readonly string[],
    stdin: Iterable<string> = [],
    nodeOptions: readonly string[] = [],
  ): Promise<Finished> {
    const command = [...nodeOptions, mainFile, ...args, '--database', this.#url];
    return this.#workspace.run(process.execPath, command, stdin);
  }
}
