/** Several nodes on one PostgreSQL database, and a load on them during failures. */
import { scheduler } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import type { Counts } from '../../../src/domain/counting/counts.js';
import { ALL_TIME, type DateRange } from '../../../src/domain/counting/date-range.js';
import type { Query } from '../../../src/domain/queries/query.js';
import type { RecordResult } from '../../../src/storage/ports/store.js';
import {
  type FirstRun,
  firstRunOf,
  runCli,
  type Server,
  type ServerProcess,
  startServer,
} from '../cli/cli.js';
import { checkAnswer } from '../http/http-checks.js';
import { OpenApi } from '../http/openapi.js';
import { knownDelivery, Ledger, rangesOver, recount } from '../storage/ledger.js';
import { onDatabase } from '../storage/store.js';
import { WatchedLoad } from '../storage/watched-load.js';
import type { Installation } from './postgres-installation.js';
import { type PostgresServer, type ServerOptions, startPostgres } from './postgres-server.js';

/** A PostgreSQL server for one test, stopped and removed after it. */
export async function ownPostgres(
  installation: Installation,
  options?: ServerOptions,
): Promise<PostgresServer> {
  const server = await startPostgres(installation, options);
  onTestFinished(async () => {
    await server.signal('SIGCONT');
    await server.stop();
  });
  return server;
}

/** Checks of `eventually`, and the pause between them, which leaves the processor to what is waited for. */
const looksMax = 10_000;
const pauseMs = 10;

/** Checks until there is a result. */
export async function eventually<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (let looks = 0; looks < looksMax; looks++) {
    const seen = await look();
    if (seen !== undefined) return seen;
    await scheduler.wait(pauseMs);
  }
  throw new Error(`no result after ${looksMax} checks`);
}

/** Waits for a node's connection that waits for a lock and is not `before`. Returns its process id. */
export function waitingForLock(server: PostgresServer, before?: number): Promise<number> {
  // Not within a transaction of a test, which would see the same at every look.
  return onDatabase(server.url(), (client) =>
    eventually(async () => {
      const { rows } = await client.query<{ pid: number }>(
        "SELECT pid FROM pg_stat_activity WHERE application_name = 'caller-stats' AND wait_event_type = 'Lock'",
      );
      return rows.find(({ pid }) => pid !== before)?.pid;
    }),
  );
}

/** A response. The status is undefined if there was none. */
export interface Reply {
  readonly status: number | undefined;
  readonly body: unknown;
}

/** Nodes and one project. Every response is checked. */
export class Cluster {
  readonly nodes: ServerProcess[];
  readonly firstRun: FirstRun;
  readonly #database: string;
  readonly #settings: readonly string[];
  readonly #openApi: OpenApi;

  private constructor(
    database: string,
    settings: readonly string[],
    { nodes, openApi, firstRun }: { nodes: ServerProcess[]; openApi: OpenApi; firstRun: FirstRun },
  ) {
    this.#database = database;
    this.#settings = settings;
    this.nodes = nodes;
    this.#openApi = openApi;
    this.firstRun = firstRun;
  }

  /** Starts nodes on a new database. */
  static async start(database: string, size: number, settings: readonly string[] = []): Promise<Cluster> {
    const args = ['--database', database, ...settings];
    const first = await startServer(args);
    const others = await Promise.all(Array.from({ length: size - 1 }, () => startServer(args)));
    const openApi = OpenApi.of(await (await fetch(`${first.url}/openapi.json`)).text());
    return new Cluster(database, settings, {
      nodes: [first, ...others],
      openApi,
      firstRun: firstRunOf(first),
    });
  }

  /** Starts another node. */
  startNode(): Promise<ServerProcess> {
    return startServer(['--database', this.#database, ...this.#settings]);
  }

  get(node: Pick<Server, 'url'>, path: string): Promise<Reply> {
    return this.#ask(node, path, { method: 'GET' });
  }

  count(node: Pick<Server, 'url'>, { from, to }: DateRange = ALL_TIME): Promise<Reply> {
    const bounds = new URLSearchParams({
      ...(from === ALL_TIME.from ? {} : { dateFrom: new Date(from).toISOString() }),
      ...(to === ALL_TIME.to ? {} : { dateTo: new Date(to).toISOString() }),
    });
    return this.get(node, `/v1/analytics/${this.firstRun.project}/assistant/caller-stats?${bounds}`);
  }

  /** Records queries. A single one is not sent as a list. */
  record(node: Pick<Server, 'url'>, queries: readonly { readonly occurredAt: number }[]): Promise<Reply> {
    const sent = queries.map((query) => ({ ...query, occurredAt: new Date(query.occurredAt).toISOString() }));
    return this.#ask(node, `/v1/analytics/${this.firstRun.project}/assistant/queries`, {
      method: 'POST',
      body: JSON.stringify(sent.length === 1 ? sent[0] : sent),
    });
  }

  async #ask(
    { url }: Pick<Server, 'url'>,
    path: string,
    init: { method: string; body?: string },
  ): Promise<Reply> {
    const headers = { authorization: `Bearer ${this.firstRun.admin}`, 'content-type': 'application/json' };
    const answer = await fetch(`${url}${path}`, {
      ...init,
      headers: init.body === undefined ? { authorization: headers.authorization } : headers,
    })
      .then(async (response) => ({
        status: response.status,
        headers: Object.fromEntries(response.headers),
        text: await response.text(),
        cookies: [],
      }))
      .catch(() => undefined);
    if (answer === undefined) return { status: undefined, body: undefined };
    checkAnswer(this.#openApi, { method: init.method, path }, answer, [this.firstRun.admin]);
    return { status: answer.status, body: JSON.parse(answer.text) };
  }

  /** Compares every node's counts with a recount of the acknowledged events, and verifies the counters. */
  async expectExactly(ledger: Ledger): Promise<void> {
    const events = ledger.events;
    for (const range of rangesOver(events, 30)) {
      const expected = { status: 200, body: recount(events, range) };
      for (const node of this.nodes)
        expect(await this.count(node, range), JSON.stringify(range)).toEqual(expected);
    }
    const verified = await runCli(['verify', '--json', '--database', this.#database]);
    expect(verified).toMatchObject({ status: 0 });
    expect(JSON.parse(verified.stdout)).toMatchObject({
      queries: events.length,
      damage: [],
      differencesTotal: 0,
    });
  }

  /** Stops every node, which must still be running. */
  async expectStops(): Promise<void> {
    for (const node of this.nodes) expect(await node.stop()).toMatchObject({ status: 0, signal: null });
  }
}

/** The tries of one delivery, after which the test fails. */
const triesMax = 2000;

/** Senders that send known events to all nodes until they are acknowledged, and a reader. */
export class Load {
  readonly ledger = new Ledger();
  readonly #cluster: Cluster;
  readonly #inFlight = new Map<string, number>();
  readonly #watched: WatchedLoad;
  #next = 0;
  #stopping = false;

  constructor(cluster: Cluster, senders: number) {
    this.#cluster = cluster;
    const work = [this.#read(), ...Array.from({ length: senders }, (_, sender) => this.#send(sender))];
    this.#watched = new WatchedLoad(Promise.all(work));
  }

  /** The deliveries in progress, of a node or of all. */
  inFlight(node?: Pick<Server, 'url'>): number {
    if (node !== undefined) return this.#inFlight.get(node.url) ?? 0;
    return [...this.#inFlight.values()].reduce((sum, one) => sum + one, 0);
  }

  /** Waits until `holds` returns true. Rejects if the load fails. */
  until(holds: () => boolean): Promise<void> {
    return this.#watched.until(holds);
  }

  /** Waits for this many more acknowledged deliveries. */
  progress(deliveries: number): Promise<void> {
    const goal = this.ledger.deliveries + deliveries;
    return this.until(() => this.ledger.deliveries >= goal);
  }

  /** Stops the load and waits until every started delivery is acknowledged. */
  async finish(): Promise<void> {
    this.#stopping = true;
    await this.#watched.end();
    expect(this.ledger.acknowledgedEvents).toBe(this.ledger.sentEvents);
    // A lost acknowledgement is missing in the sum, and its repetition reports duplicates.
    expect(this.ledger.recorded).toBeLessThanOrEqual(this.ledger.acknowledgedEvents);
  }

  async #send(sender: number): Promise<void> {
    while (!this.#stopping) {
      const number = this.#next++;
      const events = knownDelivery(number);
      this.ledger.send(events);
      let tries = 1;
      while (!(await this.#delivered(this.#nodeOf(sender + tries), events))) {
        if (++tries > triesMax) throw new Error(`delivery ${number} was refused ${triesMax} times`);
      }
    }
  }

  async #delivered(node: Server, events: readonly Query[]): Promise<boolean> {
    this.#move(node, 1);
    const { status, body } = await this.#cluster.record(node, events);
    this.#move(node, -1);
    this.ledger.outcomes.add(String(status ?? 'lost'));
    if (status === 200) this.ledger.acknowledge(events, body as RecordResult);
    else this.ledger.failures++;
    this.#watched.look();
    return status === 200;
  }

  /** Counts must include everything acknowledged before the request, and nothing that was not sent. */
  async #read(): Promise<void> {
    for (let turn = 0; !this.#stopping; turn++) {
      const before = this.ledger.acknowledgedEvents;
      const { status, body } = await this.#cluster.count(this.#nodeOf(turn));
      this.ledger.outcomes.add(String(status ?? 'lost'));
      if (status !== 200) continue;
      const { total } = body as Counts;
      expect(total).toBeGreaterThanOrEqual(before);
      expect(total).toBeLessThanOrEqual(this.ledger.sentEvents);
    }
  }

  #nodeOf(turn: number): ServerProcess {
    const node = this.#cluster.nodes[turn % this.#cluster.nodes.length];
    if (node === undefined) throw new Error('there is no node');
    return node;
  }

  #move({ url }: Pick<Server, 'url'>, by: number): void {
    this.#inFlight.set(url, (this.#inFlight.get(url) ?? 0) + by);
  }
}
