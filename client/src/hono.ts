/** Middleware for Hono, on any of its runtimes. */
import { platform } from './platform.js';
import { type QuestionOptions, recordQuestion } from './question.js';

interface Context {
  readonly req: { readonly raw: Request };
  readonly res: Response;
  /** The getter throws on runtimes without an execution context. */
  readonly executionCtx: { waitUntil(promise: Promise<unknown>): void };
}

/**
 * Middleware that records a query when its response has a status below 400. On edge runtimes, which stop after the
 * response, `waitUntil` keeps the runtime alive until the query is sent.
 *
 * `app.post('/ask', recordQuestions({ recorder, rules }), answer)`
 */
export function recordQuestions<C extends Context>(
  options: QuestionOptions<[context: C]>,
): (context: C, next: () => Promise<void>) => Promise<void> {
  return async (context, next) => {
    const askedAtMs = platform.now();
    await next();
    if (context.res.status >= 400) return;
    recordQuestion(options, context.req.raw, askedAtMs, context);
    try {
      context.executionCtx.waitUntil(options.recorder.flush());
    } catch {
      // A long-running server: the recorder sends the query later.
    }
  };
}
