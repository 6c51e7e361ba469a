/** Fuzzes a server with a number of requests and checks its responses and counts. */
import { OpenApi } from '../support/http/openapi.js';
import { countProblems, endProblems, grownBytes, type Usage, usageProblems } from './checks.js';
import { makeRequest } from './generate.js';
import { Lane, type Outcome } from './lane.js';
import { FuzzLedger } from './ledger.js';
import { listOperations } from './operations.js';
import { Oracle } from './oracle.js';
import { escapeBytes, type FuzzRequest } from './parts.js';
import { FuzzService } from './service.js';
import { makeTelemetry, type World } from './world.js';

export interface CampaignOptions {
  readonly seed: number;
  readonly requests: number;
  /** Sends only the request of this number. */
  readonly only?: number | undefined;
  /** Stops sending; what was sent is still checked. */
  readonly signal?: AbortSignal;
  /** A monotonic clock. */
  readonly now: () => number;
  /** Called regularly with the number of responses. */
  readonly onProgress?: (answered: number) => void;
  /** Called with each of the first violations as soon as it is found. */
  readonly onViolation?: (violation: string) => void;
}

export interface Report {
  readonly requests: number;
  /** The time until the last response, without the final checks. */
  readonly seconds: number;
  /** The number of responses by path and status. */
  readonly responses: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** The number of known queries that were acknowledged. */
  readonly events: number;
  readonly traces: number;
  /** The number of recordings that were sent again at the end. */
  readonly repeated: number;
  /** Bytes of memory that each request after the first fifth left behind; undefined except on Linux. */
  readonly grownBytes: number | undefined;
  readonly violations: readonly string[];
}

const lanes = 6;
const depth = 32;
const hangMs = 30_000;
/** By then the server has loaded and compiled all its code, and its memory is measured for the first time. */
const warmUpRequestsMax = 100_000;
const violationsShown = 20;
const progressRequests = 100_000;

/** Starts a server, fuzzes and checks it, and removes it. */
export async function fuzz(options: CampaignOptions): Promise<Report> {
  const { service, keys } = await FuzzService.start();
  try {
    const document = await (await fetch(`http://127.0.0.1:${service.port}/openapi.json`)).json();
    const openApi = new OpenApi(document as object);
    const world = { operations: listOperations(openApi), keys, telemetry: makeTelemetry(options.seed) };
    return await new Campaign(options, service, openApi, world).run();
  } finally {
    await service.remove();
  }
}

class Campaign {
  readonly #options: CampaignOptions;
  readonly #service: FuzzService;
  readonly #world: World;
  readonly #oracle: Oracle;
  readonly #secrets: readonly string[];
  readonly #responses = new Map<string, Map<string, number>>();
  readonly #violations: string[] = [];
  #violationsFound = 0;
  #responseCount = 0;

  constructor(options: CampaignOptions, service: FuzzService, openApi: OpenApi, world: World) {
    this.#options = options;
    this.#service = service;
    this.#world = world;
    const { admin, readOnly, recording, revoked } = world.keys;
    this.#secrets = [admin, readOnly, revoked, ...Object.values(recording)];
    this.#oracle = new Oracle(openApi, world.operations, this.#secrets);
  }

  async run(): Promise<Report> {
    const { requests, only, now } = this.#options;
    const ledger = new FuzzLedger();
    const startMs = now();
    const [start, end] = only === undefined ? [0, requests] : [only, only + 1];
    const warm = start + Math.min(Math.floor((end - start) / 5), warmUpRequestsMax);
    const { signal } = this.#options;
    await this.#send(numbersFrom(start, warm, signal), ledger);
    const before = this.#usage();
    await this.#send(numbersFrom(warm, end, signal), ledger);
    const seconds = (now() - startMs) / 1000;
    const sent = this.#responseCount;
    const after = this.#usage();
    this.#violate(...usageProblems(before, after, sent - warm));
    if (this.#service.alive) await this.#checkCounts(ledger);
    this.#violate(...(await endProblems(this.#service)));
    const more = this.#violationsFound - this.#violations.length;
    return {
      requests: sent,
      seconds,
      responses: this.#responses,
      events: [...ledger.events()].length,
      traces: ledger.traces().length,
      repeated: ledger.accepted.length,
      grownBytes: grownBytes(before, after, sent - warm),
      violations: more === 0 ? this.#violations : [...this.#violations, `and ${more} more`],
    };
  }

  /** Compares the counts before and after the recordings are repeated, which must not change anything. */
  async #checkCounts(ledger: FuzzLedger): Promise<void> {
    const problems = () => countProblems(this.#service, this.#world.keys, ledger);
    this.#violate(...(await problems()));
    const repeats = new FuzzLedger();
    await this.#send(ledger.accepted.values(), repeats);
    const { recordedEvents, recordedOthers } = repeats;
    if (recordedEvents + recordedOthers > 0)
      this.#violate(`repeated recordings were called new: ${recordedEvents} and ${recordedOthers}`);
    this.#violate(...(await problems()));
  }

  async #send(numbers: Iterator<number>, ledger: FuzzLedger): Promise<void> {
    const { now, seed } = this.#options;
    const options = {
      port: this.#service.port,
      depth,
      hangMs,
      now,
      next: () => {
        const { done, value } = numbers.next();
        return done || !this.#service.alive ? undefined : makeRequest(this.#world, seed, value);
      },
      onOutcome: (request: FuzzRequest, outcome: Outcome) => this.#take(request, outcome, ledger),
      onRepeat: (request: FuzzRequest) => {
        if (request.effect.kind !== 'none') ledger.repeats++;
      },
    };
    const all = Array.from({ length: lanes }, () => new Lane(options));
    const timer = setInterval(() => {
      for (const lane of all) lane.checkDeadline();
    }, 1000);
    try {
      await Promise.all(all.map((lane) => lane.run()));
    } finally {
      clearInterval(timer);
    }
  }

  #take(request: FuzzRequest, outcome: Outcome, ledger: FuzzLedger): void {
    const path = this.#oracle.findOperation(request)?.template ?? 'undocumented';
    const status = typeof outcome === 'string' ? outcome : 'bad' in outcome ? 'bad' : String(outcome.status);
    const counts = this.#responses.get(path) ?? new Map<string, number>();
    this.#responses.set(path, counts.set(status, (counts.get(status) ?? 0) + 1));
    this.#responseCount++;
    if (this.#responseCount % progressRequests === 0) this.#options.onProgress?.(this.#responseCount);
    const problem = this.#findProblem(request, outcome, ledger);
    if (problem !== undefined) this.#violate(`${problem}\n${this.#describe(request, outcome)}`);
  }

  #findProblem(request: FuzzRequest, outcome: Outcome, ledger: FuzzLedger): string | undefined {
    if (outcome === 'hung') return `it has no response after ${hangMs} ms`;
    if (outcome === 'closed')
      return request.cut && !request.mustBeRefused
        ? undefined
        : 'its connection is closed without a response';
    if ('bad' in outcome) return outcome.bad;
    const problem = this.#oracle.findProblem(request, outcome);
    if (problem !== undefined || outcome.status !== 200 || request.method !== 'POST') return problem;
    return ledger.acknowledge(request, outcome.body);
  }

  /** The request and response, and the command that sends the request again. */
  #describe({ number, bytes }: FuzzRequest, outcome: Outcome): string {
    const sent = this.#secrets.reduce(
      (text, secret, at) => text.replaceAll(secret, `<key ${at}>`),
      escapeBytes(bytes.subarray(0, 4000)),
    );
    const response = typeof outcome === 'object' && 'status' in outcome ? outcome : undefined;
    const answered =
      response === undefined ? '' : `${response.status} ${escapeBytes(response.body.subarray(0, 500))}`;
    return [
      `  sent: ${bytes.length} bytes, ${sent}`,
      `  response: ${answered}`,
      `  again: npm run fuzz -- --seed ${this.#options.seed} --only ${number}`,
    ].join('\n');
  }

  #violate(...what: string[]): void {
    this.#violationsFound += what.length;
    const shown = what.slice(0, violationsShown - this.#violations.length);
    this.#violations.push(...shown);
    for (const violation of shown) this.#options.onViolation?.(violation);
  }

  #usage(): Usage {
    return { memoryBytes: this.#service.memoryBytes(), descriptors: this.#service.descriptors() };
  }
}

function* numbersFrom(start: number, end: number, signal?: AbortSignal): Generator<number> {
  for (let number = start; number < end && !signal?.aborted; number++) yield number;
}
