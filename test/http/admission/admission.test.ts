import fastify from 'fastify';
import { expect, test } from 'vitest';
import { CallerStatsError } from '../../../src/domain/errors.js';
import { retryAfterSeconds } from '../../../src/domain/limits.js';
import { Admission } from '../../../src/http/admission/admission.js';
import { answerError } from '../../../src/http/server/errors.js';

const limits = { recordingsMax: 10, recordingBytesMax: 1000, requestsMax: 10, eventLoopDelayMsMax: 100 };

test('answers 503 whenever the store is too busy, and logs that once in ten seconds', async () => {
  const lines: { readonly level: number; readonly msg: string; readonly unwritten: number }[] = [];
  const app = fastify({
    logger: { level: 'warn', stream: { write: (line) => lines.push(JSON.parse(line)) } },
  });
  let nowMs = 0;
  new Admission(limits, { now: () => nowMs }, () => 0).watch(app);
  app.setErrorHandler(answerError);
  app.get('/', async () => {
    throw new CallerStatsError('busy', 'Too much is waiting to be written; try again.');
  });
  for (nowMs = 0; nowMs <= 10_000; nowMs += 100) {
    const { statusCode, headers } = await app.inject('/');
    expect([statusCode, headers['retry-after']]).toEqual([503, String(retryAfterSeconds)]);
  }
  expect(lines.map(({ msg, unwritten }) => [msg, unwritten])).toEqual([
    ['requests are refused: the server has too much to do', 0],
    ['requests are refused: the server has too much to do', 99],
  ]);
});
