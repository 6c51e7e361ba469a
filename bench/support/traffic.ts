/**
 * A fixed number of requests, spread over the processes of a target. Measured from the start of the first request to
 * the end of the last one, because a fixed duration would cut off slow answers.
 */
import autocannon from 'autocannon';
import { cpuSecondsOfFamily, readCpuSeconds } from './processor.js';
import { quantile } from './statistics.js';
import type { Server } from './workspace.js';

export interface Target {
  /** The server processes; each gets the same number of connections. */
  readonly servers: readonly Server[];
  /** The main process of the database server, if any. */
  readonly databasePid?: number;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Message {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
}

/** The measurements of a target. Processor times are per request; undefined without /proc. */
export interface Sample {
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly serversUs: number | undefined;
  readonly databaseUs: number | undefined;
}

const timeoutSeconds = 60;

interface Answers {
  readonly startMs: number;
  readonly endMs: number;
  readonly latenciesMs: readonly number[];
}

/** Sends `amount` messages, rounded up to the same number per connection. Throws unless every status is 200. */
export async function send(
  target: Target,
  next: () => Message,
  { amount, connections }: { readonly amount: number; readonly connections: number },
): Promise<Sample> {
  const { servers, databasePid } = target;
  const each = Math.max(1, Math.round(connections / servers.length));
  const requests = Math.max(1, Math.ceil(amount / servers.length / each)) * each;
  const serversBefore = sum(servers.map(({ pid }) => readCpuSeconds(pid)));
  const familySeconds = (): number | undefined =>
    databasePid === undefined ? undefined : cpuSecondsOfFamily(databasePid);
  const databaseBefore = familySeconds();
  const all = await Promise.all(
    servers.map((server) => sendTo(server, target.headers, next, requests, each)),
  );
  const serversAfter = sum(servers.map(({ pid }) => readCpuSeconds(pid)));
  const databaseAfter = familySeconds();
  const answered = requests * servers.length;
  const latencies = all.flatMap(({ latenciesMs }) => latenciesMs);
  const ms = Math.max(...all.map(({ endMs }) => endMs)) - Math.min(...all.map(({ startMs }) => startMs));
  const perRequest = (after: number | undefined, before: number | undefined): number | undefined =>
    after === undefined || before === undefined ? undefined : ((after - before) * 1e6) / answered;
  return {
    requestsPerSecond: (answered * 1000) / ms,
    p50Ms: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
    serversUs: perRequest(serversAfter, serversBefore),
    databaseUs: perRequest(databaseAfter, databaseBefore),
  };
}

/** The same with messages generated in advance, because generating may take as long as answering. */
export function sendMade(
  target: Target,
  amount: number,
  connections: number,
  make: () => Message,
): Promise<Sample> {
  // Every connection sends the same number.
  const messages = Array.from({ length: Math.ceil(amount / connections) * connections }, make);
  const next = (): Message => {
    const message = messages.pop();
    if (message === undefined) throw new Error('more is sent than was made');
    return message;
  };
  return send(target, next, { amount: messages.length, connections });
}

async function sendTo(
  { url }: Server,
  headers: Readonly<Record<string, string>>,
  next: () => Message,
  amount: number,
  connections: number,
): Promise<Answers> {
  let startMs = Number.POSITIVE_INFINITY;
  let endMs = 0;
  const latenciesMs: number[] = [];
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    const options = {
      url,
      connections,
      amount,
      timeout: timeoutSeconds,
      sampleInt: 50,
      requests: [
        {
          setupRequest: (request: autocannon.Request) => ({ ...request, ...next(), headers: { ...headers } }),
        },
      ],
    };
    const run = autocannon(options, (error, result) => (error ? reject(error) : resolve(result)));
    run.on('response', (_client, _status, _bytes, latencyMs) => {
      endMs = performance.now();
      startMs = Math.min(startMs, endMs - latencyMs);
      latenciesMs.push(latencyMs);
    });
  });
  if (result['2xx'] !== amount || latenciesMs.length !== amount) {
    throw new Error(`${url}: of ${amount} requests, ${result['2xx']} were answered with success`);
  }
  return { startMs, endMs, latenciesMs };
}

function sum(values: readonly (number | undefined)[]): number | undefined {
  return values.reduce<number | undefined>(
    (total, value) => (total === undefined || value === undefined ? undefined : total + value),
    0,
  );
}
