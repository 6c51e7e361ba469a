/** A database with its servers, and what is known about both from outside. */
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Counts } from '../../src/domain/counting/counts.js';
import { ALL_TIME } from '../../src/domain/counting/date-range.js';
import {
  kill,
  type Outcome,
  programFile,
  type Running,
  type RunOptions,
  startProcess,
  urlIn,
} from '../support/cli/process.js';
import { PROJECTS, type ProjectId, stretchOf } from './blocks.js';
import { Checker } from './checker.js';
import type { Draw } from './draw.js';
import type { Entry } from './history.js';
import { KeyRing } from './keys.js';
import { cutsOf, type Delivery, type Question, questionOf } from './plan.js';
import { ask, count, record } from './requests.js';

export interface Node extends Running {
  readonly url: string;
}

export interface ServeOptions {
  /** A program with arguments that runs the command that follows them. */
  readonly by?: readonly string[];
  /** Arguments of Node. */
  readonly node?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** A database other than the world's. */
  readonly database?: string;
}

/** Servers run for the whole load, and start slowly on a busy machine. */
const serverHangMs = 600_000;

/** The questions of a check, and the ranges that it compares with their parts. */
const questionsPerCheck = 24;
const tilingsPerCheck = 4;

export class World {
  readonly checker = new Checker();
  readonly nodes: Node[] = [];
  readonly folder: string;
  readonly database: string;
  readonly keys: KeyRing;
  /** The problems found so far. */
  readonly problems: string[] = [];
  /** How often each status was returned, to recordings and to readings. */
  readonly outcomes = new Map<string, number>();
  requests = 0;
  acknowledged = 0;
  /** Additional statuses that the current fault allows. */
  allowed: readonly (number | string)[] = [];
  readonly #running = new Set<Running>();
  #next = 0;
  #asked = 0;
  readonly #waiting: (() => void)[] = [];

  private constructor(folder: string, database: string, keys: KeyRing) {
    this.folder = folder;
    this.database = database;
    this.keys = keys;
  }

  /** Creates a database with the projects and some keys: a file in a new folder, or the one of the URL. */
  static async create(url?: string, { distribute = false } = {}): Promise<World> {
    const folder = await mkdtemp(join(tmpdir(), 'caller-stats-faults-'));
    const world = new World(folder, url ?? `sqlite:${join(folder, 'caller-stats.db')}`, new KeyRing());
    if (distribute) await world.succeed(['migrate', '--distribute']);
    for (const project of PROJECTS) await world.succeed(['project', 'create', project, '--id', project]);
    for (const name of ['one', 'two', 'three']) await world.keys.create(world, name);
    return world;
  }

  /** A copy of this world. Only for files. */
  async copy(): Promise<World> {
    const folder = await mkdtemp(join(tmpdir(), 'caller-stats-faults-'));
    await cp(this.folder, folder, { recursive: true });
    return new World(folder, `sqlite:${join(folder, 'caller-stats.db')}`, this.keys.copy());
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  /** The file of the database. */
  get file(): string {
    return this.database.replace(/^sqlite:/, '');
  }

  /** Starts a program. `close` kills it if it still runs. */
  spawn(command: string, args: readonly string[], options: RunOptions = {}): Running {
    const running = startProcess(command, args, {
      cwd: this.folder,
      ...options,
      env: { DATABASE_URL: this.database, ...options.env },
    });
    this.#running.add(running);
    void running.ended.finally(() => this.#running.delete(running)).catch(() => {});
    return running;
  }

  startCommand(args: readonly string[], { by = [], node = [], env = {} }: ServeOptions = {}): Running {
    const [command = '', ...rest] = [...by, process.execPath, ...node, programFile, ...args];
    return this.spawn(command, rest, { env });
  }

  run(args: readonly string[], options?: ServeOptions): Promise<Outcome> {
    return this.startCommand(args, options).ended;
  }

  async succeed(args: readonly string[], options?: ServeOptions): Promise<Outcome> {
    const outcome = await this.run(args, options);
    if (outcome.status !== 0) throw new Error(`${args.join(' ')}: ${JSON.stringify(outcome)}`);
    return outcome;
  }

  /** Starts a server and waits until it is ready. Rejects if it ends before. */
  async serve({ by = [], node = [], env = {}, database = this.database }: ServeOptions = {}): Promise<Node> {
    const args = ['serve', '--port', '0', '--log-level', 'warn', '--failures-per-minute', '100000'];
    const [command = '', ...rest] = [...by, process.execPath, ...node, programFile, ...args];
    const running = this.spawn(command, rest, {
      env: { ...env, DATABASE_URL: database },
      hangMs: serverHangMs,
    });
    return { ...running, url: urlIn(await running.printed(/^Documentation: .+\n/m)) };
  }

  /** The same, and sends it the requests of loads. */
  async join(options?: ServeOptions): Promise<Node> {
    const node = await this.serve(options);
    this.nodes.push(node);
    void node.ended.then(() => this.leave(node));
    for (const go of this.#waiting.splice(0)) go();
    return node;
  }

  /** Sends it no more requests. */
  leave(node: Node): void {
    const at = this.nodes.indexOf(node);
    if (at >= 0) this.nodes.splice(at, 1);
  }

  /** Stops a server, which must end with status 0. */
  async stop(node: Node): Promise<Outcome> {
    this.leave(node);
    kill(node.pid, 'SIGTERM');
    const outcome = await node.ended;
    if (outcome.status !== 0)
      this.problems.push(`a server that was asked to stop: ${JSON.stringify(outcome)}`);
    return outcome;
  }

  /** One of the servers. Waits if there is none. */
  async node(turn: number): Promise<Node> {
    const node = this.nodes[turn % this.nodes.length];
    if (node !== undefined) return node;
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return this.node(turn);
  }

  take(entry: Entry): void {
    this.problems.push(...this.checker.take(entry));
  }

  /** Sends a delivery and returns the status. */
  async deliver(node: Node, delivery: Delivery): Promise<number | string> {
    const { project, blocks } = delivery;
    const certain = new Set(this.checker.certain(project));
    const altered = delivery.altered && blocks.every((block) => certain.has(block));
    const op = this.#next++;
    const key = this.keys.any(op);
    this.take({ kind: 'record', op, project, blocks });
    const { status, body } = await record(node.url, key.value, { ...delivery, altered });
    this.#note('recording', status, key.fits(status));
    if (body !== undefined) {
      const before = this.checker.counted;
      this.take({ kind: 'recorded', op, result: body });
      this.acknowledged += this.checker.counted - before;
    } else this.take({ kind: typeof status === 'number' && status < 500 ? 'refused' : 'unknown', op });
    return status;
  }

  /** Asks a server. Returns undefined if it did not return counts. */
  async count(node: Node, question: Question, steady = false): Promise<Counts | undefined> {
    const op = this.#next++;
    const key = steady ? this.keys.steady(op) : this.keys.any(op);
    this.take({ kind: 'count', op, ...question });
    const { status, body } = await count(node.url, key.value, question);
    this.#note('reading', status, key.fits(status));
    if (body !== undefined) this.take({ kind: 'counted', op, counts: body });
    return body;
  }

  /** The same without a fault: the server must return counts. */
  async #mustCount(node: Node, question: Question): Promise<Counts> {
    const counts = await this.count(node, question, true);
    if (counts !== undefined) return counts;
    throw new Error(`no answer to ${JSON.stringify(question)}`);
  }

  /** Compares the counts of every server with the history, while nothing is recorded. */
  async check(draw: Draw): Promise<void> {
    // PostgreSQL may still be completing a call of a node that was killed; with SQLite nothing is in progress.
    const final = this.database.startsWith('sqlite:');
    for (const node of this.nodes) {
      for (const project of PROJECTS) {
        await this.#settle(node, project, final);
        for (const view of ['caller-stats', 'callers', 'series'] as const)
          await this.#mustCount(node, { project, view, range: ALL_TIME });
        for (let number = 0; number < tilingsPerCheck; number++)
          await this.#tile(node, draw.of(number), project);
      }
      for (let number = 0; number < questionsPerCheck; number++)
        await this.#mustCount(node, this.question(draw));
      const { status } = await ask(`${node.url}/readyz`);
      if (status !== 200) this.problems.push(`/readyz is ${status} without a fault`);
    }
  }

  question(draw: Draw): Question {
    const { project, view, range } = questionOf(
      draw,
      this.#asked++,
      this.checker.certain('first').slice(-200),
    );
    return { project, view, range };
  }

  async #settle(node: Node, project: ProjectId, final: boolean): Promise<void> {
    for (const block of this.checker.uncertain(project)) {
      const { total } = await this.#mustCount(node, {
        project,
        view: 'caller-stats',
        range: stretchOf(block),
      });
      if (final && total === 0) this.take({ kind: 'absent', project, block });
    }
  }

  async #tile(node: Node, draw: Draw, project: ProjectId): Promise<void> {
    const { range } = questionOf(draw, 0, this.checker.certain(project));
    if (range === ALL_TIME) return;
    const cuts = cutsOf(draw, range, 4);
    const view = 'caller-stats';
    const whole = await this.#mustCount(node, { project, view, range });
    const parts: Counts[] = [];
    for (const [at, to] of cuts.slice(1).entries())
      parts.push(await this.#mustCount(node, { project, view, range: { from: cuts[at] ?? to, to } }));
    this.take({ kind: 'tiled', whole, parts });
  }

  /** Recounts everything, while nothing is recorded. */
  async verify(database = this.database, options?: ServeOptions): Promise<void> {
    const { stdout, stderr } = await this.run(['verify', '--json', '--database', database], options);
    if (!stdout.startsWith('{')) throw new Error(`verify found nothing out: ${stderr}`);
    const found = JSON.parse(stdout) as { queries: number; damage: string[]; differencesTotal: number };
    const problems = found.damage.length + found.differencesTotal;
    this.take({ kind: 'verified', queries: found.queries, problems });
  }

  /** Kills all programs that it started and removes its folder. */
  async close(): Promise<void> {
    for (const { pid, ended } of [...this.#running]) {
      kill(pid, 'SIGKILL');
      await ended;
    }
    await rm(this.folder, { recursive: true, force: true });
  }

  #note(what: string, status: number | string, fits: boolean): void {
    this.requests++;
    const name = `${what} ${status}`;
    this.outcomes.set(name, (this.outcomes.get(name) ?? 0) + 1);
    if (!fits)
      this.problems.push(`a key that ${status === 401 ? 'works is refused' : 'does not work is taken'}`);
    if (
      status !== 200 &&
      status !== 401 &&
      status !== 'lost' &&
      status !== 503 &&
      !this.allowed.includes(status)
    )
      this.problems.push(`${name} where nothing explains it`);
  }
}
