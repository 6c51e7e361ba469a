/** What the middleware of all frameworks share: from a request that is a question to the query that is recorded. */
import {
  type CallerRules,
  type DetectableRequest,
  detectCaller,
} from '../../src/domain/queries/caller-detection.js';
import type { Recorder } from './recorder-options.js';

/** @typeParam Context what the framework hands to its own middleware */
export interface QuestionOptions<Context extends readonly unknown[]> {
  readonly recorder: Pick<Recorder, 'record' | 'flush'>;
  /** How callers are told apart; see `detectCaller`. */
  readonly rules?: CallerRules;
  /** Which requests are questions. All that come by, unless given. Asked when the response is done. */
  readonly isQuestion?: (...context: Context) => boolean;
  /**
   * The id of the message or turn, the same when it is asked again. The request's `X-Request-Id`, or where there is none
   * a random one, unless given. Asked when the response is done.
   */
  readonly id?: (...context: Context) => string;
}

/** Records the question, if it is one. Throws nothing, whatever the options do. */
export function recordQuestion<Context extends readonly unknown[]>(
  { recorder, rules, isQuestion, id }: QuestionOptions<Context>,
  request: DetectableRequest,
  askedAtMs: number,
  ...context: Context
): void {
  let query = { id: '', caller: '', occurredAt: new Date(askedAtMs) };
  try {
    if (isQuestion && !isQuestion(...context)) return;
    query = { ...query, caller: detectCaller(request, rules), id: id ? id(...context) : idOf(request) };
  } catch {
    // Recorded all the same, as what it is: the recorder says that it has no id, and to whom.
  }
  recorder.record(query);
}

function idOf({ headers }: DetectableRequest): string {
  const sent =
    typeof headers.get === 'function'
      ? headers.get('x-request-id')
      : (headers as Readonly<Record<string, unknown>>)['x-request-id'];
  return typeof sent === 'string' && sent !== '' ? sent : crypto.randomUUID();
}
