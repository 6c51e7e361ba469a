/** A wrapper for functions from `Request` to `Response`: handlers of Bun, Deno, workers, Nitro, SvelteKit and others. */
import { platform } from '../platform.js';
import { copyFor, type QuestionOptions, questionRecorder } from './question.js';

export type HandlerOptions<Req extends Request> = QuestionOptions<[request: Req, response: Response]>;

/**
 * Wraps a handler and records a query when it has answered with a status below 400, also if the reader leaves early.
 *
 * `export default { fetch: recordQuestions(answer, { recorder, rules }) }`
 */
export function recordQuestions<
  Req extends Request,
  Rest extends readonly unknown[],
  // Bun's handlers return nothing after a change to WebSocket.
  Answer extends Response | undefined = Response,
>(
  handler: (request: Req, ...rest: Rest) => Answer | Promise<Answer>,
  options: HandlerOptions<Req>,
): (request: Req, ...rest: Rest) => Promise<Answer> {
  const record = questionRecorder(options);
  return async (request, ...rest) => {
    const askedAtMs = platform.now();
    const copy = copyFor(options, request);
    const response = await handler(request, ...rest);
    if (response && response.status < 400) {
      const context: [Req, Response] = [copy, response];
      await record({ request: copy, mark: request, askedAtMs, context, platforms: [request, ...rest] });
    }
    return response;
  };
}
