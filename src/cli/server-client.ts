/** Requests to a running server, for commands with `--url`. */
import { RefusedError } from '../app/import/otlp-files.js';
import { LIST_PROJECTS, type ListedProject } from '../app/reading/reports.js';
import { retryWhileUnavailable } from '../app/retry.js';
import type { ImportedCount } from '../domain/counting/imported-count.js';
import { CallerStatsError } from '../domain/errors.js';
import { formatTime } from '../domain/format.js';
import { IMPORT_COMMAND } from '../domain/ingestion/source-counts.js';
import { answerBytesMax, toolRowsMax } from '../domain/limits.js';
import type { Project } from '../domain/projects/project.js';
import type { Query } from '../domain/queries/query.js';
import { PROJECT_HEADER } from '../http/request/target.js';
import {
  authorizationHeader,
  operationUrl,
  RequestError,
  request,
  type Transport,
} from '../shared/api-client.js';
import type { RecordResult } from '../storage/ports/store.js';
import { type Io, UsageError } from './io.js';
import { KEY_VARIABLE, type KeySource, readKey } from './settings/settings.js';

export class ServerClient {
  readonly #url: string;
  readonly #authorization: string;
  readonly #transport: Transport;

  /** @param url the server's base URL, with or without a path before `/v1`. Throws a `UsageError` if it is malformed. */
  constructor(
    url: string,
    { env, clock }: Io,
    keySource: KeySource = { flag: '--url', variable: KEY_VARIABLE },
  ) {
    try {
      operationUrl(url, '', '');
      this.#authorization = authorizationHeader(readKey(env, keySource));
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw new UsageError([
        error.message.replace(/^url/, keySource.flag).replace(/^key/, keySource.variable),
      ]);
    }
    this.#url = url;
    this.#transport = {
      fetch: async (input, init) => withLimit(await fetch(input, init)),
      now: () => clock.now(),
    };
  }

  /** Records a batch. Retries while the server is unavailable. */
  record(projectId: string, queries: readonly Query[], note: (line: string) => void): Promise<RecordResult> {
    const lines = queries.map(({ id, caller, occurredAt }) =>
      JSON.stringify({ id, caller, occurredAt: new Date(occurredAt).toISOString() }),
    );
    const url = operationUrl(this.#url, projectId, 'queries');
    return this.#postLines(url, lines, (post) => retryWhileUnavailable(post, { note }));
  }

  /** Imports counts. */
  importCounts(projectId: string, counts: readonly ImportedCount[], dryRun: boolean): Promise<RecordResult> {
    const lines = counts.map(({ source, caller, start, end, count }) =>
      JSON.stringify({ source, caller, start: formatTime(start), end: formatTime(end), count }),
    );
    const url = operationUrl(this.#url, projectId, 'imported-counts');
    return this.#postLines(`${url}?dryRun=${dryRun}`, lines, (post) => post());
  }

  /** Sends JSON to an operation. Retries while the server is unavailable. */
  post(projectId: string, operation: string, body: object): Promise<unknown> {
    return retryWhileUnavailable(
      () =>
        this.#request(operationUrl(this.#url, projectId, operation), {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        }),
      { note: () => {} },
    );
  }

  /** Sends a batch as NDJSON, in halves if the server finds it too large. `send` may try again. */
  async #postLines(
    url: string,
    lines: readonly string[],
    send: (post: () => Promise<unknown>) => Promise<unknown>,
  ): Promise<RecordResult> {
    const body = lines.join('\n');
    const post = () =>
      this.#request(url, {
        method: 'POST',
        headers: { 'content-type': 'application/x-ndjson', 'user-agent': IMPORT_COMMAND },
        body,
      });
    try {
      return (await send(post)) as RecordResult;
    } catch (error) {
      const { cause } = error as Error;
      const isTooLarge = cause instanceof RequestError && cause.status === 413;
      if (!isTooLarge || lines.length <= 1) throw error;
      const half = Math.ceil(lines.length / 2);
      const first = await this.#postLines(url, lines.slice(0, half), send);
      const second = await this.#postLines(url, lines.slice(half), send);
      return { recorded: first.recorded + second.recorded, duplicates: first.duplicates + second.duplicates };
    }
  }

  /** Sends an OTLP message to a path such as `/v1/traces`. Retries while the server is unavailable. */
  async sendTelemetry(
    projectId: string,
    path: string,
    message: object,
    note: (line: string) => void,
  ): Promise<{ rejected: number; reason: string }> {
    const headers = { 'content-type': 'application/json', [PROJECT_HEADER]: projectId };
    const post = () =>
      this.#request(`${this.#url.replace(/\/+$/, '')}${path}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(message),
      });
    try {
      const answer = (await retryWhileUnavailable(post, { note })) as { partialSuccess?: object };
      const { errorMessage, ...counts } = (answer.partialSuccess ?? {}) as Record<string, string>;
      return { rejected: Number(Object.values(counts)[0] ?? 0), reason: errorMessage ?? '' };
    } catch (error) {
      const { cause, message: reason } = error as Error;
      if (cause instanceof RequestError && [400, 413].includes(cause.status)) throw new RefusedError(reason);
      throw error;
    }
  }

  /** Returns the response of a read operation, for parameters as the user wrote them. */
  get(
    projectId: string,
    operation: string,
    parameters: Readonly<Record<string, string | undefined>>,
  ): Promise<unknown> {
    return this.#request(urlWith(operationUrl(this.#url, projectId, operation), parameters), {});
  }

  /** The body of a read operation, as it arrives. Throws `unavailable` if it breaks off. */
  async *download(
    projectId: string,
    operation: string,
    parameters: Readonly<Record<string, string | undefined>>,
    accept: string,
  ): AsyncGenerator<Uint8Array> {
    const url = urlWith(operationUrl(this.#url, projectId, operation), parameters);
    let response: Response | undefined;
    const keep = async (input: string, init: RequestInit): Promise<Response> => {
      response = await fetch(input, init);
      // The text of an error is read below, and that of a success is not: it may be of any length.
      return response.ok ? new Response('{}') : withLimit(response);
    };
    await this.#request(url, { headers: { accept } }, { ...this.#transport, fetch: keep });
    try {
      yield* response?.body ?? [];
    } catch (cause) {
      throw new CallerStatsError(
        'unavailable',
        'The server broke off: it stopped, or could not read its store. What was written is not all; run it again.',
        { cause },
      );
    }
  }

  /** The projects that the key may read, which the server's tool for AI assistants lists. */
  async listProjects(): Promise<readonly ListedProject[]> {
    const projects: Project[] = [];
    for (;;) {
      const page = await this.#listProjects(projects.length + 1);
      projects.push(...page);
      if (page.length < toolRowsMax) return projects;
    }
  }

  async #listProjects(firstRow: number): Promise<readonly Project[]> {
    const answer = (await this.#request(`${this.#url.replace(/\/+$/, '')}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        // By default, the tool lists as many as a model reads.
        params: { name: LIST_PROJECTS, arguments: { firstRow, rows: toolRowsMax } },
      }),
    })) as { readonly result: { readonly structuredContent: { readonly projects: Project[] } } };
    return answer.result.structuredContent.projects;
  }

  async #request(
    url: string,
    { headers, ...init }: RequestInit,
    transport: Transport = this.#transport,
  ): Promise<unknown> {
    try {
      return await request(transport, url, {
        ...init,
        headers: { ...headers, authorization: this.#authorization },
      });
    } catch (cause) {
      if (!(cause instanceof RequestError)) throw cause;
      const { status, message } = cause;
      if (status === 0) throw new CallerStatsError('unavailable', `${message}.`, { cause });
      throw new CallerStatsError(
        status === 429 || status === 503 ? 'unavailable' : 'invalid',
        message.startsWith('The server answered') ? message : `The server answered ${status}: ${message}`,
        { cause },
      );
    }
  }
}

function urlWith(url: string, parameters: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(parameters).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return `${url}?${new URLSearchParams(given)}`;
}

/** Fails while it is read, if the server answers without end. */
function withLimit(response: Response): Response {
  let bytes = 0;
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform(part, controller) {
      bytes += part.byteLength;
      if (bytes > answerBytesMax)
        controller.error(new Error(`the answer is longer than ${answerBytesMax} bytes`));
      else controller.enqueue(part);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body?.pipeThrough(limit) ?? null, { status, statusText, headers });
}
