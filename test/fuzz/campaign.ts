/** Sends so many requests to a server of its own, and finds out whether all went well. */
import { OpenApi } from '../support/openapi.js';
import { countProblems, endProblems, grownBytes, type Usage, usageProblems } from './checks.js';
import { requestOf } from './generate.js';
import { Lane, type Outcome } from './lane.js';
import { FuzzLedger } from './ledger.js';
import { operationsOf } from './operations.js';
import { Oracle } from './oracle.js';
import { escaped, type FuzzRequest } from './parts.js';
import { FuzzService } from './service.js';
import { makeTelemetry, type World } from './world.js';

export interface CampaignOptions {
  readonly seed: number;
  readonly requests: number;
  /** The request of this number alone, instead of those up to `requests`. */
  readonly only?: number | undefined;
  /** Ends it early: nothing more is sent, and what was sent is checked. */
  readonly signal?: AbortSignal;
  /** Milliseconds of a clock that only goes forward. */
  readonly now: () => number;
  /** Told now and then how many requests were answered. */
  readonly onProgress?: (answered: number) => void;
  /** Told of each of the first violations when it is found. */
  readonly onViolation?: (violation: string) => void;
}

export interface Report {
  readonly requests: number;
  /** In which they were answered, without the checks behind them. */
  readonly seconds: number;
  /** How often each path was answered with each status. */
  readonly answers: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** Known queries that were acknowledged, each counted once. */
  readonly events: number;
  readonly traces: number;
  /** Recordings that were sent once more when all was sent. */
  readonly repeated: number;
  /** Bytes of memory that the server kept of each request after the first fifth; undefined where the system does not tell. */
  readonly grownBytes: number | undefined;
  readonly violations: readonly string[];
}

const lanes = 6;
const depth = 32;
const hangMs = 30_000;
/** After which the server has loaded and compiled what it needs, and its memory is looked at for the first time. */
const warmRequestsMax = 100_000;
const violationsShown = 20;
const progressRequests = 100_000;

/** Starts a server, fuzzes it, checks it, and removes it. */
export async function fuzz(options: CampaignOptions): Promise<Report> {
  const { service, keys } = await FuzzService.start();
  try {
    const document = await (await fetch(`http://127.0.0.1:${service.port}/openapi.json`)).json();
    const openApi = new OpenApi(document as object);
    const world = { operations: operationsOf(openApi), keys, telemetry: makeTelemetry(options.seed) };
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
  readonly #answers = new Map<string, Map<string, number>>();
  readonly #violations: string[] = [];
  #violationsFound = 0;
  #answered = 0;

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
    const warm = start + Math.min(Math.floor((end - start) / 5), warmRequestsMax);
    const { signal } = this.#options;
    await this.#send(numbersFrom(start, warm, signal), ledger);
    const before = this.#usage();
    await this.#send(numbersFrom(warm, end, signal), ledger);
    const seconds = (now() - startMs) / 1000;
    const sent = this.#answered;
    const after = this.#usage();
    this.#violate(...usageProblems(before, after, sent - warm));
    if (this.#service.alive) await this.#checkCounts(ledger);
    this.#violate(...(await endProblems(this.#service)));
    const more = this.#violationsFound - this.#violations.length;
    return {
      requests: sent,
      seconds,
      answers: this.#answers,
      events: [...ledger.events()].length,
      traces: ledger.traces().length,
      repeated: ledger.accepted.length,
      grownBytes: grownBytes(before, after, sent - warm),
      violations: more === 0 ? this.#violations : [...this.#violations, `and ${more} more`],
    };
  }

  /** Before and after everything that is kept of the recordings was sent once more, which must change nothing. */
  async #checkCounts(ledger: FuzzLedger): Promise<void> {
    const problems = () => countProblems(this.#service, this.#world.keys, ledger);
    this.#violate(...(await problems()));
    const again = new FuzzLedger();
    await this.#send(ledger.accepted.values(), again);
    const { recordedEvents, recordedOthers } = again;
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
        return done || !this.#service.alive ? undefined : requestOf(this.#world, seed, value);
      },
      onOutcome: (request: FuzzRequest, outcome: Outcome) => this.#take(request, outcome, ledger),
      onSentAgain: (request: FuzzRequest) => {
        if (request.effect.kind !== 'none') ledger.sentTwice++;
      },
    };
    const all = Array.from({ length: lanes }, () => new Lane(options));
    const looking = setInterval(() => {
      for (const lane of all) lane.look();
    }, 1000);
    try {
      await Promise.all(all.map((lane) => lane.run()));
    } finally {
      clearInterval(looking);
    }
  }

  #take(request: FuzzRequest, outcome: Outcome, ledger: FuzzLedger): void {
    const path = this.#oracle.operationOf(request)?.template ?? 'elsewhere';
    const status = typeof outcome === 'string' ? outcome : 'bad' in outcome ? 'bad' : String(outcome.status);
    const counts = this.#answers.get(path) ?? new Map<string, number>();
    this.#answers.set(path, counts.set(status, (counts.get(status) ?? 0) + 1));
    this.#answered++;
    if (this.#answered % progressRequests === 0) this.#options.onProgress?.(this.#answered);
    const problem = this.#problemOf(request, outcome, ledger);
    if (problem !== undefined) this.#violate(`${problem}\n${this.#repeating(request, outcome)}`);
  }

  #problemOf(request: FuzzRequest, outcome: Outcome, ledger: FuzzLedger): string | undefined {
    if (outcome === 'hung') return `it is not answered within ${hangMs} ms`;
    if (outcome === 'closed')
      return request.cut && !request.mustBeRefused ? undefined : 'its connection is closed without an answer';
    if ('bad' in outcome) return outcome.bad;
    const problem = this.#oracle.problemOf(request, outcome);
    if (problem !== undefined || outcome.status !== 200 || request.method !== 'POST') return problem;
    return ledger.acknowledge(request, outcome.body);
  }

  /** What was asked and answered, and how it is asked again. */
  #repeating({ number, bytes }: FuzzRequest, outcome: Outcome): string {
    const sent = this.#secrets.reduce(
      (text, secret, at) => text.replaceAll(secret, `<key ${at}>`),
      escaped(bytes.subarray(0, 4000)),
    );
    const answer = typeof outcome === 'object' && 'status' in outcome ? outcome : undefined;
    const answered = answer === undefined ? '' : `${answer.status} ${escaped(answer.body.subarray(0, 500))}`;
    return [
      `  sent: ${bytes.length} bytes, ${sent}`,
      `  answered: ${answered}`,
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
