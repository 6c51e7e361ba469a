/**
 * A minimal assistant: sends the same bytes for every request, and optionally records each as a query. Arguments: the
 * URL of the server to record with, `none` to record nothing, or `silent` to be a server that never responds; then the
 * key.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRecorder, type Recorder } from '../../clients/javascript/src/index.js';
import { projectId } from './service.js';

const [url = 'none', key = ''] = process.argv.slice(2);

/** Small, so that the queue is full and drops queries during most of the measurement. */
const queueMax = 10_000;

let dropped = 0;
const recorder: Recorder | undefined = url.startsWith('http')
  ? createRecorder({ url, projectId, key, queueMax, onDrop: (queries) => (dropped += queries.length) })
  : undefined;
let asked = 0;
const answer = JSON.stringify({ answer: 'Because.' });
const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(answer) };

const server = createServer((request, response) => {
  if (url === 'silent') return;
  if (request.url === '/seen') {
    const rssBytes = process.memoryUsage.rss();
    response.end(JSON.stringify({ asked, dropped, rssBytes, stats: recorder?.stats }));
    return;
  }
  asked++;
  recorder?.record({ id: `${process.pid}-${asked}`, caller: 'web' });
  response.writeHead(200, headers);
  response.end(answer);
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
