/** Shared by the middleware of all frameworks: records the query that an HTTP request contains. */
import {
  type CallerRules,
  type DetectableRequest,
  detectCaller,
} from '../../../src/domain/queries/caller-detection.js';
import { platform } from '../platform.js';
import type { Recorder } from '../recorder-options.js';

type Text = string | null | undefined;

/**
 * The functions are called when the handler has answered, and may be async. They may read the body: a standard `Request`
 * that they get is a copy with a body of its own. With Node's requests, use what a body parser left in `request.body`.
 *
 * @typeParam Context the arguments that the framework passes to middleware
 */
export interface QuestionOptions<Context extends readonly unknown[]> {
  readonly recorder: Pick<Recorder, 'record' | 'flush'>;
  /** Rules for detecting the caller; see `detectCaller`. */
  readonly rules?: CallerRules;
  /** Whether a request is a query to the assistant. Default: always. `HEAD` and `OPTIONS` never are. */
  readonly isQuestion?: (...context: Context) => boolean | Promise<boolean>;
  /** The caller. Default, also if it returns nothing: the one that `detectCaller` finds with `rules`. */
  readonly caller?: (...context: Context) => Text | Promise<Text>;
  /**
   * The id of the message or turn; a retry must return the same id. Default, also if it returns nothing: the request's
   * `X-Request-Id`, or else a random id.
   */
  readonly id?: (...context: Context) => Text | Promise<Text>;
}

/** A request with the method that all platforms have. */
export interface QuestionRequest extends DetectableRequest {
  readonly method?: string | undefined;
}

/**
 * Returns a function that records the query of a request which was answered with a status below 400. Its promise never
 * rejects, even if an option throws.
 */
export function questionRecorder<Context extends readonly unknown[]>(
  options: QuestionOptions<Context>,
): (request: QuestionRequest, askedAtMs: number, ...context: Context) => Promise<void> {
  let warned = false;
  const call = async (name: 'caller' | 'id', context: Context): Promise<Text> => {
    let problem = 'returned nothing';
    try {
      const value = await options[name]?.(...context);
      if (value || name === 'caller') return value;
    } catch (error) {
      problem = `failed: ${error}`;
    }
    if (!warned)
      platform.warn(`caller-stats: the option ${name} ${problem}. The query counts with its default.`);
    warned = true;
    return undefined;
  };
  return async (request, askedAtMs, ...context) => {
    if (/^(HEAD|OPTIONS)$/.test(request.method ?? '')) return;
    const query = { id: '', caller: '', occurredAt: new Date(askedAtMs) };
    try {
      if (options.isQuestion && !(await options.isQuestion(...context))) return;
      query.caller =
        (options.caller && (await call('caller', context))) || detectCaller(request, options.rules);
      query.id = (options.id && (await call('id', context))) || requestId(request);
    } catch {
      // The recorder drops a query without an id and reports it to `onDrop`.
    }
    options.recorder.record(query);
  };
}

/** A copy of a request whose body every option can read after the handler has read the original. */
export function copyFor<Req extends Request>(
  { isQuestion, caller, id }: QuestionOptions<never>,
  request: Req,
): Req {
  if (!(isQuestion || caller || id) || request.bodyUsed) return request;
  const copy = request.clone();
  // Frameworks add properties, such as `nextUrl`, which a clone does not have. Each option reads a clone of its own.
  return new Proxy(request, {
    get: (_, key) => {
      const from = key in copy ? copy.clone() : request;
      const value: unknown = Reflect.get(from, key);
      return typeof value === 'function' ? value.bind(from) : value;
    },
  });
}

function requestId({ headers }: DetectableRequest): string {
  const sent =
    typeof headers.get === 'function'
      ? headers.get('x-request-id')
      : (headers as Readonly<Record<string, unknown>>)['x-request-id'];
  return typeof sent === 'string' && sent !== '' ? sent : crypto.randomUUID();
}
