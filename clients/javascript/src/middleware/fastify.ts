/** A plugin for Fastify 4 and 5. */

import { platform } from '../platform.js';
import { type NodeResponse, whenAnswered } from './node-response.js';
import { type QuestionOptions, type QuestionRequest, questionRecorder } from './question.js';

interface Reply {
  readonly raw: NodeResponse;
  readonly statusCode: number;
}

interface Instance<Req, Rep> {
  addHook(name: 'onRequest', hook: (request: Req, reply: Rep, done: () => void) => void): unknown;
  addHook(
    name: 'onSend',
    hook: (request: Req, reply: Rep, payload: unknown, done: () => void) => void,
  ): unknown;
}

/**
 * A plugin that records a query when the handler has answered with a status below 400, also if the reader leaves early. It
 * applies to the routes of the context in which it is registered, and of its child contexts.
 *
 * `app.register(recordQuestions({ recorder, rules, isQuestion: (request) => request.url === '/ask' }))`
 */
export function recordQuestions<Req extends QuestionRequest, Rep extends Reply>(
  options: QuestionOptions<[request: Req, reply: Rep]>,
): (instance: Instance<Req, Rep>, registered: unknown, done: () => void) => void {
  const record = questionRecorder(options);
  const plugin = (instance: Instance<Req, Rep>, _registered: unknown, done: () => void): void => {
    instance.addHook('onRequest', (request, reply, next) => {
      const askedAtMs = platform.now();
      whenAnswered(reply.raw, () =>
        record({ request, mark: reply.raw, askedAtMs, context: [request, reply] }),
      );
      next();
    });
    instance.addHook('onSend', (_request, reply, _payload, next) => {
      // If the reader has left, Fastify does not even begin to send a standard `Response`.
      if (reply.raw.destroyed && reply.statusCode < 400) reply.raw.end();
      next();
    });
    done();
  };
  // Without this symbol, the hook would apply only to routes that the plugin itself adds.
  return Object.assign(plugin, { [Symbol.for('skip-override')]: true });
}
