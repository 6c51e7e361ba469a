/** Hono, on any of its runtimes. */
import { platform } from './platform.js';
import { type QuestionOptions, recordQuestion } from './question.js';

/** The part of Hono's context that is needed. */
interface Context {
  readonly req: { readonly raw: Request };
  readonly res: Response;
  /** Throws where the runtime has none. */
  readonly executionCtx: { waitUntil(promise: Promise<unknown>): void };
}

/**
 * Middleware that records each question that was answered with a status below 400. Where the runtime stops behind a
 * response, as those at the edge do, it is asked to stay until the question is sent.
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
      // A server that goes on running; the recorder sends in its own time.
    }
  };
}
