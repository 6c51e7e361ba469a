/**
 * Records single queries as fast as its connections get answers, refused or not, and asks again at once: the worst of
 * senders. Arguments: the server's address, a key, connections, seconds. Prints what it met as JSON.
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
