/** Requests to a running server, for commands with `--url`. */
import type { Counts } from '../domain/counts.js';
import { CallerStatsError } from '../domain/errors.js';
import type { Query } from '../domain/query.js';
import type { RecordResult } from '../storage/store.js';
import { UsageError } from './io.js';

const triesMax = 8;
const retryAfterMsMax = 30_000;

/** Milliseconds to wait before the n-th further try, where the server names none. */
const backoffMs = (attempt: number): number => Math.min(250 * 2 ** attempt, 10_000);

export class ServerClient {
  readonly #base: URL;
  readonly #key: string;

  /** `url` is the server's base, with or without a path before `/v1`. `UsageError` where it is not http(s). */
  constructor(url: string, key: string) {
    const base = URL.canParse(url) ? new URL(url) : undefined;
    if (base === undefined || !/^https?:$/.test(base.protocol)) {
      throw new UsageError(['--url: is not an http:// or https:// address']);
    }
    if (!base.pathname.endsWith('/')) base.pathname += '/';
    this.#base = base;
    this.#key = key;
  }

  /** Records a batch; where the server finds it too large, in halves. */
  async record(projectId: string, queries: readonly Query[]): Promise<RecordResult> {
    const lines = queries.map(({ occurredAt, ...rest }) =>
      JSON.stringify({ ...rest, occurredAt: new Date(occurredAt).toISOString() }),
    );
    const response = await this.#send(`v1/analytics/${encodeURIComponent(projectId)}/assistant/queries`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson' },
      body: lines.join('\n'),
    });
    if (response.status === 413 && queries.length > 1) {
      const half = Math.ceil(queries.length / 2);
      const first = await this.record(projectId, queries.slice(0, half));
      const second = await this.record(projectId, queries.slice(half));
      return { recorded: first.recorded + second.recorded, duplicates: first.duplicates + second.duplicates };
    }
    return (await bodyOf(response)) as RecordResult;
  }

  /** The server's answer for bounds given as the user wrote them. */
  async count(projectId: string, bounds: { readonly from?: string; readonly to?: string }): Promise<Counts> {
    const parameters = new URLSearchParams();
    if (bounds.from !== undefined) parameters.set('dateFrom', bounds.from);
    if (bounds.to !== undefined) parameters.set('dateTo', bounds.to);
    const path = `v1/analytics/${encodeURIComponent(projectId)}/assistant/caller-stats`;
    return (await bodyOf(await this.#send(`${path}?${parameters}`, {}))) as Counts;
  }

  /** Sends until the server has answered otherwise than "come back": safe, because recording is idempotent. */
  async #send(path: string, init: RequestInit): Promise<Response> {
    const headers = { ...init.headers, authorization: `Bearer ${this.#key}` };
    for (let attempt = 0; ; attempt++) {
      const last = attempt + 1 >= triesMax;
      try {
        const response = await fetch(new URL(path, this.#base), { ...init, headers });
        if (last || (response.status !== 503 && response.status !== 429)) return response;
        await response.arrayBuffer();
        await sleep(retryAfterMs(response) ?? backoffMs(attempt));
      } catch (error) {
        if (last)
          throw new CallerStatsError('unavailable', `${this.#base.origin} cannot be reached.`, {
            cause: error,
          });
        await sleep(backoffMs(attempt));
      }
    }
  }
}

function retryAfterMs(response: Response): number | undefined {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) ? Math.min(seconds * 1000, retryAfterMsMax) : undefined;
}

async function bodyOf(response: Response): Promise<unknown> {
  const text = await response.text();
  if (response.ok) return JSON.parse(text);
  throw new CallerStatsError('invalid', `The server answered ${response.status}: ${errorOf(text)}`);
}

/** The messages of an error body; the beginning of the text where it is none, as from a proxy. */
function errorOf(text: string): string {
  try {
    const { error, details = [] } = JSON.parse(text) as { error: string; details?: { message: string }[] };
    return [error, ...details.map(({ message }) => message)].join('\n  ');
  } catch {
    return text.slice(0, 200);
  }
}

function sleep(durationMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, durationMs));
}
