/** Requests to a running server, for commands with `--url`. */
import { backoffMs } from '../app/retry.js';
import { CallerStatsError } from '../domain/errors.js';
import type { Query } from '../domain/queries/query.js';
import { sleep } from '../shared/retry.js';
import type { RecordResult } from '../storage/ports/store.js';
import { UsageError } from './io.js';

const retryAfterMsMax = 30_000;

/** What became of one request. `problem` says why it is worth another try. */
interface Attempt {
  readonly answer?: Response;
  readonly problem?: string;
}

export class ServerClient {
  readonly #base: URL;
  readonly #key: string;
  readonly #triesMax: number;
  readonly #note: (line: string) => void;

  /**
   * `url` is the server's base, with or without a path before `/v1`. `UsageError` where it is not http(s). A request
   * is tried `triesMax` times while the server is away or busy; `note` hears of each further try.
   */
  constructor(
    url: string,
    key: string,
    { triesMax, note }: { triesMax: number; note: (line: string) => void },
  ) {
    const base = URL.canParse(url) ? new URL(url) : undefined;
    if (base === undefined || !/^https?:$/.test(base.protocol)) {
      throw new UsageError(['--url: is not an http:// or https:// address']);
    }
    if (!base.pathname.endsWith('/')) base.pathname += '/';
    this.#base = base;
    this.#key = key;
    this.#triesMax = triesMax;
    this.#note = note;
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

  /** The server's answer to an operation on the project's assistant, for parameters as the user wrote them. */
  async get(
    projectId: string,
    operation: string,
    parameters: Readonly<Record<string, string | undefined>>,
  ): Promise<unknown> {
    const given = new URLSearchParams();
    for (const [name, value] of Object.entries(parameters)) if (value !== undefined) given.set(name, value);
    const path = `v1/analytics/${encodeURIComponent(projectId)}/assistant/${operation}`;
    return bodyOf(await this.#send(`${path}?${given}`, {}));
  }

  /** Sends until the server has answered otherwise than "come back": safe, because recording is idempotent. */
  async #send(path: string, init: RequestInit): Promise<Response> {
    const headers = { ...init.headers, authorization: `Bearer ${this.#key}` };
    for (let tries = 1; ; tries++) {
      const { answer, problem }: Attempt = await this.#try(path, { ...init, headers });
      if (answer !== undefined && problem === undefined) return answer;
      if (tries === this.#triesMax) {
        if (answer !== undefined) return answer;
        throw new CallerStatsError('unavailable', `${this.#base.origin} cannot be reached: ${problem}.`);
      }
      const waitMs = (answer === undefined ? undefined : retryAfterMs(answer)) ?? backoffMs(tries);
      this.#note(`${this.#base.origin}: ${problem}; trying again in ${waitMs / 1000} s`);
      await sleep(waitMs);
    }
  }

  async #try(path: string, init: RequestInit): Promise<Attempt> {
    try {
      const answer = await fetch(new URL(path, this.#base), init);
      if (answer.status !== 503 && answer.status !== 429) return { answer };
      return { answer, problem: `answered ${answer.status}` };
    } catch (error) {
      // What fetch throws says nothing; its cause does.
      const cause = (error as Error).cause as NodeJS.ErrnoException | undefined;
      return { problem: cause?.code ?? cause?.message ?? (error as Error).message };
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
