/**
 * Records single queries as fast as its connections get responses and retries refused ones at once: the worst possible
 * sender. Arguments: the server's URL, a key, connections, seconds. Prints the results as JSON.
 */
import { randomUUID } from 'node:crypto';
import autocannon from 'autocannon';
import { projectId } from './service.js';

const [url = '', key = '', connections = '', seconds = ''] = process.argv.slice(2);
const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
const timeoutSeconds = 60;

const { start, finish, ...answers } = await autocannon({
  url,
  connections: Number(connections),
  duration: Number(seconds),
  timeout: timeoutSeconds,
  sampleInt: 100,
  requests: [
    {
      method: 'POST',
      path: `/v1/analytics/${projectId}/assistant/queries`,
      headers,
      setupRequest: (request) => ({ ...request, body: JSON.stringify({ id: randomUUID(), caller: 'web' }) }),
    },
  ],
});
const refused = Number(answers.statusCodeStats?.['503']?.count ?? 0);
process.stdout.write(
  JSON.stringify({
    accepted: answers['2xx'],
    refused,
    otherwise: answers.non2xx - refused + answers.errors + answers.timeouts,
    seconds: (finish.getTime() - start.getTime()) / 1000,
  }),
);
