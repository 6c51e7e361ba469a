/** Express, Connect, and whatever else has middleware of Node's requests and responses. */
import type { DetectableRequest } from '../../src/domain/queries/caller-detection.js';
import { platform } from './platform.js';
import { type QuestionOptions, recordQuestion } from './question.js';

/** The part of a response of Node's that is needed. */
interface Response {
  readonly statusCode: number;
  on(event: 'finish', listener: () => void): unknown;
}

/**
 * Middleware that records each question whose response was sent to its end, with a status below 400.
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
