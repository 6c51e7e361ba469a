/** Finds requests that take much of a server: climbs towards more processor time and memory for each byte that is sent. */
import { Random } from '../random.js';
import {
  apply,
  describe,
  type Edit,
  firstEdits,
  type Input,
  mutate,
  randomEdit,
  requestsMax,
  without,
} from './edits.js';
import type { HistorySize } from './history.js';
import { type Cost, MeasuredServer, type Sent, type Share, write } from './measured-server.js';
import type { Request } from './operations.js';
import { Big, inRequest, TooLarge, type Tree, textMax } from './tree.js';

export interface SearchOptions {
  readonly program: string;
  /** An empty database; without it, the search makes one of SQLite. */
  readonly databaseUrl?: string | undefined;
  readonly history: HistorySize;
  readonly seed: number;
  /** Bytes of memory that the server may have. */
  readonly residentBytesMax: number;
  /** Whether to try one more input. */
  readonly goesOn: (tried: number) => boolean;
  /** Only the operations whose names match. */
  readonly only?: RegExp;
  /** Tried first. */
  readonly known?: readonly Input[];
  readonly onFinding?: (finding: Finding) => void;
}

interface Finding {
  readonly what: string;
  readonly input: Input;
}

export interface SearchReport {
  readonly tried: number;
  readonly loadMs: number;
  /** The longest turn of all that were not findings. */
  readonly longestMs: number;
  readonly findings: readonly Finding[];
}

/** The inputs that did best in one way. */
const bestMax = 5;
/** What a request costs without a body, in bytes. */
const headBytes = 500;

/** What the search climbs towards. */
const GOALS: readonly ((cost: Cost) => number)[] = [
  ({ usedMs, bytes }) => usedMs / (bytes + headBytes),
  ({ longestMs }) => longestMs,
  ({ longestMs, bytes }) => longestMs / (bytes + headBytes),
  // What earlier requests prepared.
  ({ requests }) =>
    requests.reduce(
      (most, { longestMs, plainBytes }) => Math.max(most, longestMs / (plainBytes + headBytes)),
      0,
    ),
];

/** The longest turn of the event loop that limits.md promises, on a machine where the work of `probe.mjs` takes `quietLoadMs`. */
const turnMsMax = 50;
const quietLoadMs = 33;

/** The same on a machine where that work takes so long. */
export function turnMsMaxAt(loadMs: number): number {
  return (turnMsMax * Math.max(loadMs, quietLoadMs)) / quietLoadMs;
}

/**
 * An input is too costly only if each of this many attempts takes too long: other work of the machine and garbage collection make
 * single attempts longer.
 */
const attempts = 5;

/** A server that takes this many times as long as that work is given up. */
const lostLoads = 16;

const warmUps = 5;

function valuesOf({ query, body }: Request): Tree {
  return { ...(query !== undefined && { query }), ...(body !== undefined && { body }) };
}

function numberedIn(request: Request, input: number, at: number): Request {
  return { ...request, ...(inRequest(valuesOf(request), input, at) as object) };
}

/** What an input cost, and the longest turn of its fixed requests with the usual other ones. */
interface Measured extends Cost {
  readonly usualMs: number;
}

/** A fixed request may take at most this many times as long as it does with the usual other requests. */
const dearTimes = 2;

interface Tried {
  readonly input: Input;
  readonly score: number;
}

export async function searchCost(options: SearchOptions): Promise<SearchReport> {
  const server = await MeasuredServer.start(options.program, options);
  try {
    return await new Search(server, options, await server.load()).run();
  } finally {
    await server.remove();
  }
}

class Search {
  readonly #server: MeasuredServer;
  readonly #options: SearchOptions;
  readonly #operations: ReadonlyMap<string, readonly Request[]>;
  /** The shortest time of that work in the last measurement. */
  #loadMs: number;
  readonly #best = new Map<string, Tried[]>();
  /** Of each operation, those that were not tried yet. */
  readonly #firsts = new Map<string, (readonly Edit[])[]>();
  /** The time that each operation took, with the attempts to make its findings smaller. */
  readonly #tookMs = new Map<string, number>();
  readonly #found = new Set<string>();
  readonly #findings: Finding[] = [];
  readonly #random: Random;
  #longestMs = 0;
  #tried = 0;
  /** Each time that an input is sent, it has ids of its own. */
  #sent = 0;

  constructor(server: MeasuredServer, options: SearchOptions, loadMs: number) {
    this.#server = server;
    this.#options = options;
    this.#loadMs = loadMs;
    this.#random = new Random(options.seed, 0);
    const all = [...server.operations].filter(([name]) => options.only?.test(name) !== false);
    this.#operations = new Map(all);
  }

  async run(): Promise<SearchReport> {
    const { known = [], goesOn } = this.#options;
    await this.#warmUp([...this.#operations.keys()]);
    for (const input of known) await this.#try(input);
    while (goesOn(this.#tried)) {
      const operation = this.#random.oneIn(3) ? this.#costliest() : this.#leastTried();
      const startMs = performance.now();
      await this.#try(this.#findings.reduce((one, { input }) => without(one, input), this.#next(operation)));
      this.#tookMs.set(operation, this.#tookOf(operation) + performance.now() - startMs);
    }
    const longestMs = this.#longestMs;
    return { tried: this.#tried, loadMs: this.#loadMs, longestMs, findings: this.#findings };
  }

  #tookOf(operation: string): number {
    return this.#tookMs.get(operation) ?? 0;
  }

  /** So that all get the same time, whatever an attempt takes, and one that is always too costly does not take it from others. */
  #leastTried(): string {
    const took = (operation: string) => this.#tookOf(operation);
    return [...this.#operations.keys()].reduce((one, other) => (took(other) < took(one) ? other : one));
  }

  /** The one of some that is nearest to too much, so that the search climbs where it has got to. Not where it has been. */
  #costliest(): string {
    const names = [...this.#operations.keys()];
    const most = (operation: string) =>
      this.#found.has(operation) ? 0 : (this.#best.get(`1 ${operation}`)?.[0]?.score ?? 0);
    return this.#random
      .times(3, () => this.#random.pick(names))
      .reduce((one, other) => (most(other) > most(one) ? other : one));
  }

  #next(operation: string): Input {
    const random = this.#random;
    const firsts = this.#firsts.get(operation) ?? firstEdits(random, this.#treeOf([operation]));
    this.#firsts.set(operation, firsts);
    const edits = random.oneIn(3) ? undefined : firsts.shift();
    if (edits !== undefined) return { chain: [operation], edits, isPacked: edits.length > 1 };
    const best = this.#best.get(`${random.int(GOALS.length)} ${operation}`) ?? [];
    if (best.length > 0 && !random.oneIn(4)) {
      const names = [...this.#operations.keys()];
      const changed = (input: Input) => mutate(random, input, this.#treeOf(input.chain), names);
      const once = changed(random.pick(best).input);
      return random.oneIn(2) ? once : changed(once);
    }
    const tree = this.#treeOf([operation]);
    const others = random.times(1 + random.int(3), () => randomEdit(random, tree));
    return { chain: [operation], edits: others, isPacked: random.oneIn(2) };
  }

  async #try(input: Input): Promise<void> {
    this.#tried++;
    const cost = await this.#measure(input);
    if (cost === undefined) return;
    if (this.#problemOf(cost) !== undefined) return this.#find(input);
    this.#longestMs = Math.max(this.#longestMs, cost.longestMs);
    GOALS.forEach((goal, at) => {
      const name = `${at} ${input.chain[0]}`;
      const best = [...(this.#best.get(name) ?? []), { input, score: goal(cost) }];
      this.#best.set(name, best.sort((one, other) => other.score - one.score).slice(0, bestMax));
    });
  }

  /** Notes what is left of the input when all is taken away that does not matter, if it is as costly a second time. */
  async #find(input: Input): Promise<void> {
    const again = await this.#costlyEachTime(input);
    if (again === undefined) return;
    // What earlier requests left in memory must not stand for a part of the input.
    const alone = await this.#costlyAlone(input);
    let [found, worst] = [input, alone ?? again];
    for (const edit of alone === undefined ? [] : input.edits) {
      const less = { ...found, edits: found.edits.filter((one) => one !== edit) };
      const cost = await this.#costlyAlone(less);
      if (cost !== undefined && cost.longestMs >= worst.longestMs / 2) [found, worst] = [less, cost];
    }
    const after = alone === undefined ? ', after earlier requests' : '';
    const finding = { what: `${describe(found)}${after}: ${this.#problemOf(worst)}`, input: found };
    this.#findings.push(finding);
    this.#found.add(input.chain[0] ?? '');
    this.#options.onFinding?.(finding);
  }

  async #costlyAlone(input: Input): Promise<Measured | undefined> {
    await this.#server.restart();
    await this.#warmUp(input.chain);
    return this.#costlyEachTime(input);
  }

  /** The first requests of a server run code that is not compiled yet. */
  async #warmUp(operations: readonly string[]): Promise<void> {
    for (const operation of operations)
      for (let time = 0; time < warmUps; time++)
        await this.#measure({ chain: [operation], edits: [], isPacked: false });
  }

  /** The cost of the best of several attempts, if it is too much. The work that it is compared with is measured between them. */
  async #costlyEachTime(input: Input): Promise<Measured | undefined> {
    let least: Measured | undefined;
    this.#loadMs = await this.#server.load();
    for (let attempt = 0; attempt < attempts; attempt++) {
      const cost = await this.#measure(input);
      if (cost === undefined || this.#problemOf(cost) === undefined) return undefined;
      if (cost.isLost) return cost;
      if (least === undefined || cost.longestMs < least.longestMs) least = cost;
      this.#loadMs = Math.min(this.#loadMs, await this.#server.load());
    }
    return least === undefined || this.#problemOf(least) === undefined ? undefined : least;
  }

  #problemOf(cost: Measured): string | undefined {
    const { usualMs, longestMs, usedMs, bytes, statuses, requests, residentBytes, isLost } = cost;
    const { residentBytesMax } = this.#options;
    const mostOf = ({ isFixed }: Share) =>
      isFixed ? Math.max(dearTimes * usualMs, this.#loadMs / 2) : turnMsMaxAt(this.#loadMs);
    const isTooMuch = (share: Share) => share.longestMs > mostOf(share);
    const worst = requests.find(isTooMuch) ?? requests.find((request) => request.longestMs === longestMs);
    const which = requests.length < 2 ? '' : ` in ${requests.length} requests, the worst of ${worst?.bytes}`;
    const sent = `${bytes} bytes${which}, answered ${[...new Set(statuses)].join(', ')}`;
    if (statuses.some((status) => status === 500)) return sent;
    if (worst !== undefined && isTooMuch(worst))
      return `${sent}, held the event loop for ${isLost ? 'more than ' : ''}${Math.round(worst.longestMs)} ms of ${Math.round(usedMs)} ms${worst.isFixed ? `, usually ${Math.round(usualMs)} ms` : ''}`;
    if (residentBytes > residentBytesMax)
      return `${sent}, left it with ${Math.round(residentBytes / 1e6)} MB`;
    return undefined;
  }

  #requestsOf(chain: readonly string[]): readonly Request[] {
    return chain.flatMap((name) => this.#operations.get(name) ?? []);
  }

  #treeOf(chain: readonly string[]): Tree {
    return this.#requestsOf(chain).map((request) => (request.isFixed ? {} : valuesOf(request)));
  }

  #write({ chain, edits, isPacked }: Input): Sent[] {
    const tree = edits.reduce<Tree>((one, edit) => apply(one, edit), this.#treeOf(chain)) as readonly Tree[];
    const requests = this.#requestsOf(chain).flatMap((request, at) => {
      let values: Tree = request.isFixed ? valuesOf(request) : (tree[at] ?? {});
      let times = 1;
      for (; values instanceof Big; values = values.of) times *= values.count;
      return Array<{ request: Request; values: Tree }>(Math.min(times, requestsMax)).fill({
        request,
        values,
      });
    });
    this.#sent++;
    const sent: Sent[] = [];
    let [bytes, plainBytes] = [0, 0];
    for (const [at, { request, values }] of requests.entries()) {
      const one = write(numberedIn({ ...request, ...(values as object) }, this.#sent, at), isPacked);
      // Before the next: sixty large bodies would not fit into memory.
      bytes += one.body.length;
      plainBytes += one.plainBytes ?? one.body.length;
      if (bytes > textMax || plainBytes > 5 * textMax) throw new TooLarge();
      sent.push(one);
    }
    return sent;
  }

  async #measure(input: Input): Promise<Measured | undefined> {
    let sent: Sent[];
    try {
      sent = this.#write(input);
    } catch (error) {
      if (error instanceof TooLarge) return undefined;
      throw error;
    }
    const limitMs = lostLoads * this.#loadMs;
    const cost = await this.#server.measure(sent, limitMs);
    const usualMs = await this.#undo(input, limitMs);
    if (cost.residentBytes > this.#options.residentBytesMax && !cost.isLost) await this.#server.restart();
    return { ...cost, usualMs };
  }

  /** Settings that an input changed must not change what the next one costs. Returns what its fixed requests take with the usual ones. */
  async #undo({ chain }: Input, limitMs: number): Promise<number> {
    const requests = this.#requestsOf(chain);
    const isNeeded = requests.some(({ isFixed }) => isFixed)
      ? () => true
      : ({ method }: Request) => method === 'PATCH';
    const usual = requests.filter(isNeeded);
    if (!usual.some(({ method }) => method === 'PATCH')) return 0;
    this.#sent++;
    const sent = usual.map((request, at) => write(numberedIn(request, this.#sent, at), false));
    const { requests: shares } = await this.#server.measure(sent, limitMs);
    return shares.reduce((most, { isFixed, longestMs }) => (isFixed ? Math.max(most, longestMs) : most), 0);
  }
}
