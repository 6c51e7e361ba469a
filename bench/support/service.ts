/** The built service as its users run it: commands and servers, each in its own process. */
import { readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Event, ndjsonBatches } from './events.js';
import { type Finished, mainFile, programArguments, type Server, type Workspace } from './workspace.js';

export const projectId = 'bench';

/** A database of the service with one project. */
export class Database {
  readonly #workspace: Workspace;
  readonly #url: string;

  /** `url` unless it is a file in the workspace. */
  static async create(
    workspace: Workspace,
    name: string,
    url = `sqlite:${workspace.path(name)}/caller-stats.db`,
  ): Promise<Database> {
    const database = new Database(workspace, url);
    await database.createProject(projectId);
    return database;
  }

  /** One that exists, or that a command will create. */
  static at(workspace: Workspace, url: string): Database {
    return new Database(workspace, url);
  }

  private constructor(workspace: Workspace, url: string) {
    this.#workspace = workspace;
    this.#url = url;
  }

  /** The SQLite file. */
  get file(): string {
    return this.#url.slice('sqlite:'.length);
  }

  /** Creates the project `hot` and fills it with the queries of the first one, all within one day. */
  async fillHot(): Promise<void> {
    await this.createProject('hot');
    await this.#workspace.run(process.execPath, [...programArguments('fill'), this.file]);
  }

  get folder(): string {
    return dirname(this.file);
  }

  /** Bytes on disk, including the log. */
  sizeBytes(): number {
    return readdirSync(this.folder).reduce((sum, name) => sum + statSync(join(this.folder, name)).size, 0);
  }

  async createProject(id: string): Promise<void> {
    await this.#run(['project', 'create', 'Bench', '--id', id]);
  }

  /** Imports a file whose `lines` must all be new. Returns the seconds from the start of the command to its exit. */
  async import(file: string, lines: number): Promise<number> {
    return (await this.importWithPeak(file, lines)).seconds;
  }

  /** The same, with the command's peak memory. */
  importWithPeak(file: string, lines: number): Promise<Finished> {
    return this.#import(file, lines);
  }

  /** The same with events that are generated while the command runs. */
  async importEvents(events: Iterable<Event>, lines: number): Promise<number> {
    return (await this.#import('-', lines, ndjsonBatches(events))).seconds;
  }

  async #import(source: string, lines: number, stdin: Iterable<string> = []): Promise<Finished> {
    const finished = await this.#run(['import', source, '--project', projectId, '--json'], stdin);
    const totals = JSON.parse(finished.stdout) as { recorded: number };
    if (totals.recorded !== lines) throw new Error(`of ${lines} lines, ${totals.recorded} were recorded`);
    return finished;
  }

  /** Recounts everything, which must agree. Returns the seconds from the start of the command to its exit. */
  async verify(): Promise<number> {
    return (await this.#run(['verify'])).seconds;
  }

  async createAdminKey(): Promise<string> {
    const { stdout } = await this.#run(['key', 'create', '--name', 'Bench', '--json']);
    return (JSON.parse(stdout) as { key: string }).key;
  }

  /** Runs a command on it and returns its output. */
  async command(...args: string[]): Promise<string> {
    return (await this.#run(args)).stdout;
  }

  /** Starts a server: one process with default settings, except for the log and the given options. */
  serve(...settings: string[]): Promise<Server> {
    return this.serveWith([], ...settings);
  }

  /** The same, with Node options. */
  serveWith(nodeOptions: readonly string[], ...settings: string[]): Promise<Server> {
    const options = ['--port', '0', '--log-level', 'warn', '--database', this.#url, ...settings];
    return this.#workspace.start([...nodeOptions, mainFile, 'serve', ...options]);
  }

  #run(args: readonly string[], stdin: Iterable<string> = []): Promise<Finished> {
    const command = [mainFile, ...args, '--database', this.#url];
    return this.#workspace.run(process.execPath, command, stdin);
  }
}
