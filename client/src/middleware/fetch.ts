/** A wrapper for functions from `Request` to `Response`: handlers of Bun, Deno, workers, Nitro, SvelteKit and others. */
import { platform } from '../platform.js';
import { copyFor, type QuestionOptions, questionRecorder } from './question.js';

export interface HandlerOptions<Req extends Request>
  extends QuestionOptions<[request: Req, response: Response]> {
  /**
   * Keeps serverless platforms running after the response until the query is sent, like `after` of `next/server`. Default:
   * the `waitUntil` of an argument of the handler, if there is one.
   */
  readonly after?: (task: () => Promise<unknown>) => void;
}

/**
 * Wraps a handler and records a query when it has answered with a status below 400, also if the reader leaves early.
 *
 * `export default { fetch: recordQuestions(answer, { recorder, rules }) }`
 */
export function recordQuestions<Req extends Request, Rest extends readonly unknown[]>(
  handler: (request: Req, ...rest: Rest) => Response | Promise<Response>,
  options: HandlerOptions<Req>,
): (request: Req, ...rest: Rest) => Promise<Response> {
  const record = questionRecorder(options);
  return async (request, ...rest) => {
    const askedAtMs = platform.now();
    const copy = copyFor(options, request);
    const response = await handler(request, ...rest);
    if (response.status < 400) {
      const recorded = record(copy, askedAtMs, copy, response);
      const flush = (): Promise<unknown> => recorded.then(() => options.recorder.flush());
      const context = [request, ...rest].find(hasWaitUntil);
      if (options.after) options.after(flush);
      else context?.waitUntil(flush());
    }
    return response;
  };
}

interface Waiting {
  waitUntil(promise: Promise<unknown>): void;
}

function hasWaitUntil(argument: unknown): argument is Waiting {
  return typeof (argument as Partial<Waiting> | undefined)?.waitUntil === 'function';
}
