/** Middleware for Express, Connect and other frameworks that use Node's requests and responses. */
import type { DetectableRequest } from '../../src/domain/queries/caller-detection.js';
import { platform } from './platform.js';
import { type QuestionOptions, recordQuestion } from './question.js';

interface Response {
  readonly statusCode: number;
  on(event: 'finish', listener: () => void): unknown;
}

/**
 * Middleware that records a query when its response was sent completely with a status below 400.
 *
 * `app.post('/ask', recordQuestions({ recorder, rules }), answer)`
 */
export function recordQuestions<Req extends DetectableRequest, Res extends Response>(
  options: QuestionOptions<[request: Req, response: Res]>,
): (request: Req, response: Res, next: () => void) => void {
  return (request, response, next) => {
    const askedAtMs = platform.now();
    response.on('finish', () => {
      if (response.statusCode < 400) recordQuestion(options, request, askedAtMs, request, response);
    });
    next();
  };
}
