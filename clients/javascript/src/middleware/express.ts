/** Middleware for Express, Connect and other frameworks that use Node's requests and responses. */

import { platform } from '../platform.js';
import { type NodeResponse, whenAnswered } from './node-response.js';
import { type QuestionOptions, type QuestionRequest, questionRecorder } from './question.js';

/**
 * Middleware that records a query when the handler has answered with a status below 400, also if the reader leaves early.
 *
 * `app.post('/ask', recordQuestions({ recorder, rules }), answer)`
 */
export function recordQuestions<Req extends QuestionRequest, Res extends NodeResponse>(
  options: QuestionOptions<[request: Req, response: Res]>,
): (request: Req, response: Res, next: () => void) => void {
  const record = questionRecorder(options);
  return (request, response, next) => {
    const askedAtMs = platform.now();
    whenAnswered(response, () =>
      record({ request, mark: response, askedAtMs, context: [request, response] }),
    );
    next();
  };
}
