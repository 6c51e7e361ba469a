/** Requests with large bodies that are refused, for every status with which a body is refused unread. */
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { afterAll, beforeAll } from 'vitest';
import { buildMetricsApp } from '../../../src/observability/metrics/server.js';
import { QUERIES, STATS, startService } from '../http/http.js';
import type { LargeRequest } from './clients.js';

export interface Refusal {
  readonly status: number;
  readonly request: Pick<LargeRequest, 'method' | 'url' | 'headers'>;
}

/** The kinds of requests. The first one counts on the rate limit of the minute in which the servers start. */
export const REFUSALS = [
  'too many requests',
  'a body over the limit',
  'no key',
  'an unknown key',
  'a key without the scope',
  'a key of another address',
  'no such project',
  'no such route',
  'a malformed URL',
  'a wrong method',
  'an unsupported type',
  'an unsupported encoding',
  'an overloaded server',
  'a body where none is needed',
  'the metrics server',
] as const;

export type RefusalName = (typeof REFUSALS)[number];

/** Starts the servers for the tests of a `describe`. The result returns the request of a kind and the status it gets. */
export function startRefusing(): (what: RefusalName) => Refusal {
  const ends: (() => Promise<void>)[] = [];
  let refusals: Readonly<Record<RefusalName, Refusal>> | undefined;
  beforeAll(async () => {
    refusals = await createRefusals((end) => void ends.unshift(end));
  });
  afterAll(async () => {
    for (const end of ends) await end();
  });
  return (what) => {
    if (refusals === undefined) throw new Error('call this inside a test');
    return refusals[what];
  };
}

/** Starts the servers. `onEnd` gets what stops them. */
export async function createRefusals(
  onEnd: (end: () => Promise<void>) => void,
): Promise<Readonly<Record<RefusalName, Refusal>>> {
  const service = await startService({ logLevel: 'info' }, onEnd);
  const limited = await startService({ logLevel: 'info', limits: { requestsPerMinute: 1 } }, onEnd);
  await limited.send();
  const overloaded = await startService({ logLevel: 'info' }, onEnd);
  overloaded.eventLoop.delayMs = 1_000_000;
  const readOnly = await service.addKey('read-only', { type: 'admin', scopes: ['read'] });
  const elsewhere = await service.addKey('elsewhere', {
    type: 'recording',
    projectId: 'docs',
    allow: ['192.0.2.0/24'],
  });
  const { admin, recording, unknown } = service.keys;
  const json = { 'Content-Type': 'application/json' };
  const bearer = (key: string) => ({ ...json, Authorization: `Bearer ${key}` });
  const urls = {
    base: await service.origin(),
    limited: await limited.origin(),
    overloaded: await overloaded.origin(),
  };
  const to = (status: number, method: string, url: string, headers: Readonly<Record<string, string>>) => ({
    status,
    request: { method, url, headers },
  });
  const post = (status: number, headers: Readonly<Record<string, string>>, path: string = QUERIES) =>
    to(status, 'POST', urls.base + path, headers);
  return {
    'a body over the limit': post(413, bearer(recording)),
    'no key': post(401, json),
    'an unknown key': post(401, bearer(unknown)),
    'a key without the scope': post(403, bearer(readOnly)),
    'a key of another address': post(403, bearer(elsewhere)),
    'no such project': post(404, bearer(admin), QUERIES.replace('docs', 'x')),
    'no such route': post(404, bearer(admin), '/nowhere'),
    'a malformed URL': post(400, bearer(admin), QUERIES.replace('docs', '%FF')),
    'a wrong method': post(405, bearer(admin), STATS),
    'an unsupported type': post(415, { ...bearer(recording), 'Content-Type': 'text/csv' }),
    'an unsupported encoding': post(415, { ...bearer(recording), 'Content-Encoding': 'br' }),
    'too many requests': to(429, 'POST', urls.limited + QUERIES, bearer(limited.keys.admin)),
    'an overloaded server': to(503, 'POST', urls.overloaded + QUERIES, bearer(overloaded.keys.recording)),
    'a body where none is needed': to(200, 'GET', urls.base + STATS, bearer(admin)),
    'the metrics server': to(405, 'POST', await startMetrics(onEnd), json),
  };
}

/** The URL of a metrics server. */
async function startMetrics(onEnd: (end: () => Promise<void>) => void): Promise<string> {
  const page = { contentType: 'text/plain', show: async () => '' };
  const app = await buildMetricsApp(page, pino({ level: 'silent' }));
  onEnd(() => app.close());
  await app.listen({ host: '127.0.0.1', port: 0 });
  return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}/metrics`;
}
