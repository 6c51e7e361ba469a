/**
 * A minimal `node:http` server with one constant answer: the baseline for exports. Arguments: the content type and the
 * body of the answer.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const [contentType = 'text/plain', body = ''] = process.argv.slice(2);
const contentLength = Buffer.byteLength(body);

const server = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': contentType, 'content-length': contentLength });
  response.end(body);
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
