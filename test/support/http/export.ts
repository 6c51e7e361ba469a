/** A service with some queries, and raw requests for their counts. */
import { type Service, type ServiceOptions, STATS, startService } from './http.js';

/** A range in which `recordSome` records `ordinaryCounts`. */
export const ordinary = `${STATS}?dateFrom=1970-01-01&dateTo=1970-01-02T03:04:05.678Z`;

export const ordinaryCounts = { web: 4, api: 3, other: 3, total: 10 };

/** Records queries inside and outside the range of `ordinary`. */
export async function recordSome({ store }: Service): Promise<void> {
  const callers = ['web', 'api', 'slack'];
  const queries = Array.from({ length: 30 }, (_, at) => ({
    id: `query ${at}`,
    caller: callers[at % 3] ?? '',
    occurredAt: at * at * 1_000_003,
  }));
  await store.counts.record('docs', queries);
}

export async function startWithSome(options: ServiceOptions = {}): Promise<Service> {
  const service = await startService(options);
  await recordSome(service);
  service.calls.length = 0;
  return service;
}

/** The bytes of a request without a body. */
export function get(path: string, headers: readonly string[], method = 'GET'): string {
  return [`${method} ${path} HTTP/1.1`, ...headers, '', ''].join('\r\n');
}
