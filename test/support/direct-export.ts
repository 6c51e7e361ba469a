/** A service whose ordinary exports are answered without the framework, and requests to it in bytes. */
import { type Service, type ServiceOptions, STATS, startService } from './http.js';

/** A range whose answer `recordSome` makes `ordinaryCounts`. */
export const ordinary = `${STATS}?dateFrom=1970-01-01&dateTo=1970-01-02T03:04:05.678Z`;

export const ordinaryCounts = { web: 4, api: 3, other: 3, total: 10 };

/** Where each request is logged, none is answered directly. */
export const directly = { logLevel: 'info' } as const;

/** Queries on both sides of the bounds of `ordinary`. */
export async function recordSome({ store }: Service): Promise<void> {
  const callers = ['web', 'api', 'slack'];
  const queries = Array.from({ length: 30 }, (_, at) => ({
    id: `query ${at}`,
    caller: callers[at % 3] ?? '',
    occurredAt: at * at * 1_000_003,
  }));
  await store.record('docs', queries);
}

export async function startWithSome(options: ServiceOptions = {}): Promise<Service> {
  const service = await startService({ ...directly, ...options });
  await recordSome(service);
  service.calls.length = 0;
  return service;
}

/** A request in bytes, as it goes over a connection. */
export function get(path: string, headers: readonly string[], method = 'GET'): string {
  return [`${method} ${path} HTTP/1.1`, ...headers, '', ''].join('\r\n');
}
