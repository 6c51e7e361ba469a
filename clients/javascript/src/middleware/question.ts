/** Shared by the middleware of all frameworks: records the query that an HTTP request contains. */
import {
  type CallerRules,
  type DetectableRequest,
  detectCaller,
} from '../../../../src/domain/queries/caller-detection.js';
import { platform } from '../platform.js';
import type { Query } from '../query.js';
import type { Recorder } from '../recorder-options.js';
import { callSafely } from '../reports.js';

type Text = string | null | undefined;

/**
 * The functions are called when the handler has answered, and may be async. They may read the body: a standard `Request`
 * that they get is a copy with a body of its own. With Node's requests, use what a body parser left in `request.body`.
 *
 * @typeParam Context the arguments that the framework passes to middleware
 */
export interface QuestionOptions<Context extends readonly unknown[]> {
  readonly recorder: Pick<Recorder, 'record' | 'flush'> & Partial<Pick<Recorder, 'waitFor'>>;
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
  /**
   * Keeps a platform running that stops after the response, until the query is sent, like `after` of `next/server`. Default: the
   * `waitUntil` that the platform passes to the handler, if there is one.
   */
  readonly after?: (task: () => Promise<unknown>) => void;
}

/** A request with the method that all platforms have. */
export interface QuestionRequest extends DetectableRequest {
  readonly method?: string | undefined;
}

/** A request that was answered with a status below 400. */
interface Answered<Context> {
  readonly request: QuestionRequest;
  /** The same object for all middleware of this request. */
  readonly mark: object;
  readonly askedAtMs: number;
  readonly context: Context;
  /** What the platform passed to the handler. */
  readonly platforms?: readonly unknown[];
}

/**
 * Who has counted each request: middleware that is used twice, such as in an app and its router, counts a question once. The
 * promises never reject.
 */
const counted = new WeakMap<object, Promise<readonly unknown[]>>();

/** How long a response waits for its query on platforms where all work ends with it. */
const heldMsMax = 2_000;

/** Returns a function that records the query of a request. It never throws. If it returns a promise, the response must wait for it. */
export function questionRecorder<Context extends readonly unknown[]>(
  options: QuestionOptions<Context>,
): (answered: Answered<Context>) => Promise<unknown> | undefined {
  const { recorder } = options;
  const makeQuery = queryMaker(options);
  return (answered) => {
    if (/^(HEAD|OPTIONS)$/.test(answered.request.method ?? '')) return undefined;
    const decide = async (earlier: readonly unknown[]): Promise<readonly unknown[]> => {
      const query = earlier.includes(recorder) ? undefined : await makeQuery(answered);
      if (query) callSafely(() => recorder.record(query));
      return query ? [...earlier, recorder] : earlier;
    };
    const recorded = counted.get(answered.mark)?.then(decide) ?? decide([]);
    counted.set(answered.mark, recorded);
    callSafely(() => recorder.waitFor?.(recorded));
    const flush = (): Promise<unknown> => recorded.then(() => recorder.flush());
    const context = answered.platforms?.find(hasWaitUntil);
    let held: Promise<unknown> = recorded;
    try {
      if (options.after) options.after(flush);
      else if (context) context.waitUntil(flush());
      else if (platform.isRequestBound) held = flush();
    } catch {
      // Without the platform's help, the recorder sends the query later.
    }
    // There, the body cannot be read any more after the response.
    return platform.isRequestBound ? Promise.race([held, timeout(heldMsMax)]) : undefined;
  };
}

const timeout = (ms: number): Promise<void> =>
  new Promise((resolve) => void platform.startTimer(resolve, ms));

interface Waiting {
  waitUntil(promise: Promise<unknown>): void;
}

function hasWaitUntil(argument: unknown): argument is Waiting {
  return typeof (argument as Partial<Waiting> | undefined)?.waitUntil === 'function';
}

/** Returns a function that makes the query of a request, if it has one. Its promise never rejects, even if an option throws. */
function queryMaker<Context extends readonly unknown[]>(options: QuestionOptions<Context>) {
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
  return async ({ request, askedAtMs, context }: Answered<Context>): Promise<Query | undefined> => {
    const query = { id: '', caller: '', occurredAt: new Date(askedAtMs) };
    try {
      if (options.isQuestion && !(await options.isQuestion(...context))) return undefined;
      query.caller =
        (options.caller && (await call('caller', context))) || detectCaller(request, options.rules);
      query.id = (options.id && (await call('id', context))) || requestId(request);
    } catch {
      // The recorder drops a query without an id and reports it to `onDrop`.
    }
    return query;
  };
}

/** What reads the body of a request, or says whether it was read. */
const BODY: ReadonlySet<string | symbol> = new Set(
  'arrayBuffer blob body bodyUsed bytes clone formData json text'.split(' '),
);

/** A copy of a request whose body every option can read after the handler has read the original; itself if its body was read. */
export function copyFor<Req extends Request>(
  { isQuestion, caller, id }: QuestionOptions<never>,
  request: Req,
): Req {
  if (!(isQuestion || caller || id) || request.bodyUsed || request.body?.locked) return request;
  const copy = request.clone();
  // Frameworks add properties, such as `nextUrl`, which a clone does not have. Each option reads a body of its own.
  return new Proxy(request, {
    get: (_, key) => {
      const from = BODY.has(key) ? copy.clone() : key in copy ? copy : request;
      const value: unknown = Reflect.get(from, key);
      return typeof value === 'function' ? value.bind(from) : value;
    },
  });
}

/** The id of a request that names none of its own. */
export function requestId({ headers }: DetectableRequest): string {
  const sent =
    typeof headers.get === 'function'
      ? headers.get('x-request-id')
      : (headers as Readonly<Record<string, unknown>>)['x-request-id'];
  return typeof sent === 'string' && sent !== '' ? sent : crypto.randomUUID();
}
