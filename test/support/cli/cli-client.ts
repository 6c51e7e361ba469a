/** Requests to a server that runs as a process. */
import type { Counts } from '../../../src/domain/counting/counts.js';
import { OpenApi } from '../http/openapi.js';
import type { Server } from './cli.js';

export interface Answer<T> {
  readonly status: number;
  readonly body: T;
}

export interface Recorded {
  readonly recorded: number;
  readonly duplicates: number;
}

/** A client for one project with one key. Every response is checked against the server's OpenAPI document. */
export function clientOf(
  { url }: Pick<Server, 'url'>,
  projectId: string,
  key: string,
  more: { readonly headers?: Readonly<Record<string, string>>; readonly timeoutMs?: number } = {},
) {
  const base = `${url}/v1/analytics/${projectId}/assistant`;
  const headers = { ...more.headers, authorization: `Bearer ${key}` };
  let document: Promise<OpenApi> | undefined;
  const send = async <T>(
    address: string,
    init: { method: string; headers: Readonly<Record<string, string>>; body?: string },
  ) => {
    document ??= openApiOf(url);
    const openApi = await document;
    const signal = more.timeoutMs === undefined ? null : AbortSignal.timeout(more.timeoutMs);
    const response = await fetch(address, { ...init, signal });
    const text = await response.text();
    const contentType = response.headers.get('content-type') ?? undefined;
    openApi.check({ method: init.method, path: address, status: response.status, contentType, text });
    return { status: response.status, body: JSON.parse(text) as T };
  };
  return {
    count: (query: Readonly<Record<string, string>> = {}): Promise<Answer<Counts>> =>
      send(`${base}/caller-stats?${new URLSearchParams(query)}`, { method: 'GET', headers }),
    record: (queries: readonly object[]): Promise<Answer<Recorded>> =>
      send(`${base}/queries`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(queries),
      }),
  };
}

async function openApiOf(url: string): Promise<OpenApi> {
  return OpenApi.of(await (await fetch(`${url}/openapi.json`)).text());
}

/** The queries of a batch, whose number is part of their ids. */
export function batchOf(number: number, size: number): object[] {
  return Array.from({ length: size }, (_, at) => ({
    id: `batch-${number}-${at}`,
    caller: ['web', 'api', 'slack'][at % 3],
  }));
}
