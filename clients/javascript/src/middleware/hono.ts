/** Middleware for Hono, on any of its runtimes. */
import { platform } from '../platform.js';
import { copyFor, type QuestionOptions, questionRecorder } from './question.js';

interface Context {
  readonly req: { raw: Request };
  readonly res: Response;
  /** The getter throws on runtimes without an execution context. */
  readonly executionCtx: { waitUntil(promise: Promise<unknown>): void };
}

/**
 * Middleware that records a query when the handler has answered with a status below 400, also if the reader leaves early.
 * On edge runtimes, which stop after the response, `waitUntil` keeps the runtime alive until the query is sent.
 *
 * `app.post('/ask', recordQuestions({ recorder, rules }), answer)`
 */
export function recordQuestions<C extends Context>(
  options: QuestionOptions<[context: C]>,
): (context: C, next: () => Promise<void>) => Promise<void> {
  const record = questionRecorder(options);
  return async (context, next) => {
    const askedAtMs = platform.now();
    const mark = context.req.raw;
    const copy = copyFor(options, mark);
    await next();
    if (context.res.status >= 400) return;
    // `context.req.json()` and its siblings read it, unless Hono has the body already.
    context.req.raw = copy;
    await record({ request: copy, mark, askedAtMs, context: [context], platforms: [executionOf(context)] });
  };
}

/** Undefined on runtimes without an execution context, where the getter throws. */
function executionOf(context: Context): unknown {
  try {
    return context.executionCtx;
  } catch {
    return undefined;
  }
}
