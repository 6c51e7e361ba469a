/** A plugin for Fastify 4 and 5. */
import type { DetectableRequest } from '../../src/domain/queries/caller-detection.js';
import { platform } from './platform.js';
import { type QuestionOptions, recordQuestion } from './question.js';

interface Reply {
  readonly statusCode: number;
  /** Milliseconds since the request arrived. */
  readonly elapsedTime: number;
}

interface Instance<Req, Rep> {
  addHook(name: 'onResponse', hook: (request: Req, reply: Rep, done: () => void) => void): unknown;
}

/**
 * A plugin that records a query when its response was sent with a status below 400. It applies to the routes of the
 * context in which it is registered, and of its child contexts.
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
  // Without this symbol, the hook would apply only to routes that the plugin itself adds.
  return Object.assign(plugin, { [Symbol.for('skip-override')]: true });
}
