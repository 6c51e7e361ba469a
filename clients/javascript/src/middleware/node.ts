/** A wrapper for request handlers of `node:http`. */
import { recordQuestions as middleware } from './express.js';
import type { NodeResponse } from './node-response.js';
import type { QuestionOptions, QuestionRequest } from './question.js';

/**
 * Wraps a handler and records a query when it has answered with a status below 400, also if the reader leaves early.
 *
 * `createServer(recordQuestions(answer, { recorder, rules }))`
 */
export function recordQuestions<Req extends QuestionRequest, Res extends NodeResponse>(
  handler: (request: Req, response: Res) => unknown,
  options: QuestionOptions<[request: Req, response: Res]>,
): (request: Req, response: Res) => unknown {
  const record = middleware(options);
  return (request, response) => {
    record(request, response, () => {});
    return handler(request, response);
  };
}
