/** A wrapper for route handlers of Next.js and other functions from `Request` to `Response`. */
import { platform } from './platform.js';
import { type QuestionOptions, recordQuestion } from './question.js';

export interface HandlerOptions<Req extends Request>
  extends QuestionOptions<[request: Req, response: Response]> {
  /** `after` of `next/server`. It keeps serverless platforms running after the response until the query is sent. */
  readonly after?: (task: () => Promise<unknown>) => void;
}

/**
 * Wraps a route handler and records a query when the response has a status below 400.
 *
 * `export const POST = recordQuestions(answer, { recorder, rules, after })`
 */
export function recordQuestions<Req extends Request, Rest extends readonly unknown[]>(
  handler: (request: Req, ...rest: Rest) => Response | Promise<Response>,
  options: HandlerOptions<Req>,
): (request: Req, ...rest: Rest) => Promise<Response> {
  return async (request, ...rest) => {
    const askedAtMs = platform.now();
    const response = await handler(request, ...rest);
    if (response.status < 400) {
      recordQuestion(options, request, askedAtMs, request, response);
      options.after?.(() => options.recorder.flush());
    }
    return response;
  };
}
