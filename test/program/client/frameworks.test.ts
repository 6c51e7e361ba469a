/** The middleware in real servers: a question counts once, however the response ends. The deep test has more of them. */
import { test } from 'vitest';
import { expectCounts, onNode } from '../../support/client/frameworks.js';

test.each([
  ['Express 5', onNode('express.mjs')],
  ['Fastify 5', onNode('fastify.mjs')],
  ['node:http', onNode('node.mjs')],
])('%s', (_, start) => expectCounts(start));
