/** Shared by the middleware of all frameworks: records the query that an HTTP request contains. */
import {
  type CallerRules,
  type DetectableRequest,
  detectCaller,
} from '../../src/domain/queries/caller-detection.js';
import type { Recorder } from './recorder-options.js';

/** @typeParam Context the arguments that the framework passes to middleware */
export interface QuestionOptions<Context extends readonly unknown[]> {
  readonly recorder: Pick<Recorder, 'record' | 'flush'>;
  /** Rules for detecting the caller; see `detectCaller`. */
  readonly rules?: CallerRules;
  /** Whether a request is a query to the assistant. Default: always. Called after the response. */
  readonly isQuestion?: (...context: Context) => boolean;
  /**
   * The id of the message or turn; a retry must return the same id. Default: the request's `X-Request-Id`, or else a
   * random id. Called after the response.
   */
  readonly id?: (...context: Context) => string;
}

/** Records the query of a request. Never throws, even if an option does. */
export function recordQuestion<Context extends readonly unknown[]>(
  { recorder, rules, isQuestion, id }: QuestionOptions<Context>,
  request: DetectableRequest,
  askedAtMs: number,
  ...context: Context
): void {
  let query = { id: '', caller: '', occurredAt: new Date(askedAtMs) };
  try {
    if (isQuestion && !isQuestion(...context)) return;
    query = { ...query, caller: detectCaller(request, rules), id: id ? id(...context) : requestId(request) };
  } catch {
    // The recorder drops a query without an id and reports it to `onDrop`.
  }
  recorder.record(query);
}

function requestId({ headers }: DetectableRequest): string {
  const sent =
    typeof headers.get === 'function'
      ? headers.get('x-request-id')
      : (headers as Readonly<Record<string, unknown>>)['x-request-id'];
  return typeof sent === 'string' && sent !== '' ? sent : crypto.randomUUID();
}
