/** Requests to a server that runs as a process. */
import type { Counts } from '../../src/domain/counts.js';
import type { Server } from './cli.js';

export interface Answer<T> {
  readonly status: number;
  readonly body: T;
}

export interface Recorded {
  readonly recorded: number;
  readonly duplicates: number;
}

/** Someone who talks to a server about one project, with one key. */
export function clientOf({ url }: Pick<Server, 'url'>, projectId: string, key: string) {
  const base = `${url}/v1/analytics/${projectId}/assistant`;
  const headers = { authorization: `Bearer ${key}` };
  return {
    count: async (query: Readonly<Record<string, string>> = {}): Promise<Answer<Counts>> =>
      answerOf(await fetch(`${base}/caller-stats?${new URLSearchParams(query)}`, { headers })),
    record: async (queries: readonly object[]): Promise<Answer<Recorded>> =>
      answerOf(
        await fetch(`${base}/queries`, {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json' },
          body: JSON.stringify(queries),
        }),
      ),
  };
}

/** Queries with ids of their own, for the batch of this number. */
export function batchOf(number: number, size: number): object[] {
  return Array.from({ length: size }, (_, at) => ({
    id: `batch-${number}-${at}`,
    caller: ['web', 'api', 'slack'][at % 3],
  }));
}

async function answerOf<T>(response: Response): Promise<Answer<T>> {
  return { status: response.status, body: (await response.json()) as T };
}
