/**
 * Says what fails and what is lost: to the callbacks of the recorder's user, or else on the console, once for each cause.
 */
import { hourMs, type RequestError } from '../../../src/shared/api-client.js';
import type { Platform } from './platform.js';
import type { QueuedQuery } from './query.js';
import type { DropReason, RecorderOptions } from './recorder-options.js';

/** What to check after a response with this status. A redirect says so itself. */
const remedies: Readonly<Record<number, string>> = {
  0: 'url, and that the server runs',
  200: 'url',
  401: 'key',
  403: 'key',
  404: 'projectId and url',
};

export class Reports {
  readonly #options: RecorderOptions;
  readonly #platform: Platform;
  /** The causes of drops, and the expiries, that were printed. */
  readonly #printed = new Set<string>();
  /** When each kind of failure was printed. */
  readonly #failedAt = new Map<number | undefined, number>();
  /** Why the last request failed. */
  #lastFailure = '';
  /** Whether the console has the failures of requests, and not yet that they are over. */
  #isOpen = false;

  constructor(options: RecorderOptions, platform: Platform) {
    this.#options = options;
    this.#platform = platform;
  }

  /**
   * A request failed, or the spool.
   *
   * @param isPrinted false if what is lost will be printed soon, with this reason
   */
  failed(error: RequestError | Error, isPrinted = true): void {
    const { onError, url, projectId } = this.#options;
    // Errors of a spool have none.
    const { status } = error as Partial<RequestError>;
    if (status !== undefined) this.#lastFailure = `; the last request failed: ${error.message}`;
    if (onError) callSafely(() => onError(error));
    else if (isPrinted && !isRejection(error) && !this.#failedAt.has(status)) {
      this.#failedAt.set(status, this.#platform.now());
      if (status === undefined)
        this.#print(`the spool failed: ${error.message}. Queries are sent, but a crash loses them.`);
      else {
        this.#isOpen = true;
        const remedy = remedies[status] ? ` Check ${remedies[status]}.` : '';
        this.#print(
          `a request to ${url} for project ${projectId} failed: ${error.message}${remedy} Queries wait.`,
        );
      }
    }
  }

  /** The server has said when the key expires, which it does for the last 30 days. */
  expires(at: string | null): void {
    if (!at || this.#printed.has(at)) return;
    this.#printed.add(at);
    this.#print(`the key for project ${this.#options.projectId} expires at ${at}.`);
  }

  succeeded(): void {
    this.#lastFailure = '';
    // A server that is sometimes busy must not fill a log.
    const before = this.#platform.now() - hourMs;
    for (const [status, atMs] of this.#failedAt) if (atMs < before) this.#failedAt.delete(status);
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#printed.delete('queue-full ');
    this.#print(`requests to ${this.#options.url} work again.`);
  }

  dropped(queries: readonly QueuedQuery[], { code, message: why }: DropReason): void {
    const { onDrop } = this.#options;
    const message = /^[cqs]/.test(code) ? why + this.#lastFailure : why;
    if (onDrop) callSafely(() => onDrop(queries, { code, message }));
    // What is invalid or refused begins with the field that is wrong.
    const field = /^(?:queries\[\d+\]: )?(\w+):/.exec(why)?.[1] ?? '';
    const cause = `${code} ${field}`;
    if ((onDrop && code !== 'unconfigured') || this.#printed.has(cause)) return;
    this.#printed.add(cause);
    const help = cause === 'refused occurredAt' ? '. Is the clock right?' : '';
    const subject = queries.length === 1 ? '1 query is' : `${queries.length} queries are`;
    const what = code === 'unconfigured' ? 'no query is counted' : `${subject} not counted (${code})`;
    this.#print(`${what}: ${message}${help}`);
  }

  #print(message: string): void {
    this.#platform.warn(`caller-stats: ${message}`);
  }
}

/** Whether queries were refused for good, which is told for each of them, or the batch is too large. */
export function isRejection({ status }: Partial<RequestError>): boolean {
  return status === 400 || status === 413;
}

/** Runs a callback of the user, whose errors must not stop sending. */
export function callSafely(run: () => void): void {
  try {
    run();
  } catch {
    // The user's own.
  }
}
