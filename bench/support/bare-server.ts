/**
 * A minimal `node:http` server with one constant answer: the baseline for exports. Arguments: the headers of the answer, as
 * a JSON array of names and values in turn, and its body. Node adds `Date` and what concerns the connection.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const [headersJson = '[]', body = ''] = process.argv.slice(2);
const headers = JSON.parse(headersJson) as string[];

const server = createServer((_request, response) => {
  response.writeHead(200, headers);
  response.end(body, 'latin1');
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
