/** Fastify 4 and 5. */
import type { DetectableRequest } from '../../src/domain/queries/caller-detection.js';
import { platform } from './platform.js';
import { type QuestionOptions, recordQuestion } from './question.js';

/** The part of Fastify's reply that is needed. */
interface Reply {
  readonly statusCode: number;
  /** Milliseconds since the request arrived. */
  readonly elapsedTime: number;
}

/** The part of a Fastify instance that is needed. */
interface Instance<Req, Rep> {
  addHook(name: 'onResponse', hook: (request: Req, reply: Rep, done: () => void) => void): unknown;
}

/**
 * A plugin that records each question whose response was sent with a status below 400, in the context that it is
 * registered in and those below.
 *
 * `app.register(recordQuestions({ recorder, rules, isQuestion: (request) => request.url === '/ask' }))`
 */
export function recordQuestions<Req extends DetectableRequest, Rep extends Reply>(
  options: QuestionOptions<[request: Req, reply: Rep]>,
): (instance: Instance<Req, Rep>, registered: unknown, done: () => void) => void {
  const plugin = (instance: Instance<Req, Rep>, _registered: unknown, done: () => void): void => {
    instance.addHook('onResponse', (request, reply, next) => {
      const askedAtMs = platform.now() - reply.elapsedTime;
      if (reply.statusCode < 400) recordQuestion(options, request, askedAtMs, request, reply);
      next();
    });
    done();
  };
  // Without it, a plugin's hooks hold for its own routes only, and it has none.
  return Object.assign(plugin, { [Symbol.for('skip-override')]: true });
}
