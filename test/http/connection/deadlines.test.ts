/** A deadline that passes while the response waits for its turn to be sent. */
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import Fastify from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { trackExchange } from '../../../src/http/connection/connections.js';
import { limitConnections } from '../../../src/http/connection/deadlines.js';
import { answerError } from '../../../src/http/server/errors.js';

const timeoutMs = 20;
/** With these timeouts, the response is late after eight checks. */
const checks = 10;

test('a response that waits for its turn is sent as it is, and alone', async () => {
  const logged: string[] = [];
  const app = Fastify({
    logger: { level: 'warn', stream: { write: (line: string) => void logged.push(line) } },
  });
  onTestFinished(() => app.close());
  app.setErrorHandler(answerError);
  limitConnections(app, { connectionsMax: 10, requestTimeoutMs: timeoutMs, answerTimeoutMs: timeoutMs });
  app.addHook('onSend', async (request, reply) => {
    const exchange = trackExchange(request.raw, reply.raw);
    while (exchange.unansweredChecks < checks && !reply.sent) await setImmediate();
  });
  app.get('/', async () => ({ recorded: 1 }));
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}/`);
  expect([response.status, await response.json()]).toEqual([200, { recorded: 1 }]);
  expect(logged).toEqual([]);
});
