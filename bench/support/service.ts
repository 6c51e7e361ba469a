/** The built service as its users meet it: its commands and its server, each a process of its own. */
import { mainFile, type Server, type Workspace } from './workspace.js';

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

  private constructor(workspace: Workspace, url: string) {
    this.#workspace = workspace;
    this.#url = url;
  }

  async createProject(id: string): Promise<void> {
    await this.#run(['project', 'create', 'Bench', '--id', id]);
  }

  /** Imports a file that must be new in all of its `lines`; gives the seconds from the command's start to its exit. */
  async import(file: string, lines: number): Promise<number> {
    return (await this.importWithPeak(file, lines)).seconds;
  }

  /** The same, and the most memory that the command had. */
  async importWithPeak(
    file: string,
    lines: number,
  ): Promise<{ readonly seconds: number; readonly peakBytes: number | undefined }> {
    const { stdout, seconds, peakBytes } = await this.#run([
      'import',
      file,
      '--project',
      projectId,
      '--json',
    ]);
    const totals = JSON.parse(stdout) as { recorded: number };
    if (totals.recorded !== lines) throw new Error(`of ${lines} lines, ${totals.recorded} were recorded`);
    return { seconds, peakBytes };
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

  #run(args: readonly string[]) {
    return this.#workspace.run(process.execPath, [mainFile, ...args, '--database', this.#url]);
  }
}
