/**
 * Sends the same request over and over, each time as soon as the last one was answered. Arguments: the server's URL, the request and its
 * headers as JSON, connections, seconds. `[<id>]` in the body is another text each time. Prints the results as JSON.
 */
import autocannon from 'autocannon';
import type { Reading } from '../beside.js';

const [url = '', request = '', connections = '', seconds = ''] = process.argv.slice(2);
const { method = 'GET', path, headers, body } = JSON.parse(request) as Reading;

const answers = await autocannon({
  ...{ url, method, headers, timeout: 60, sampleInt: 100 },
  ...(body !== undefined && { body, idReplacement: true }),
  connections: Number(connections),
  duration: Number(seconds),
  requests: [{ method, path }],
});
const of = (status: number) => Number(answers.statusCodeStats?.[`${status}`]?.count ?? 0);
// Nothing is left to correct.
const without = path.endsWith('/corrections') ? of(400) : 0;
// If there are many readers, a server refuses some requests.
const refused = of(429) + of(503);
process.stdout.write(
  JSON.stringify({
    answered: answers['2xx'] + without,
    otherwise: answers.non2xx - without - refused + answers.errors + answers.timeouts,
  }),
);
