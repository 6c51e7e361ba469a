/** Sends the requests that standard input lists with clients of Node, and prints the responses: see `clients.ts`. */
import { Agent, request as httpRequest } from 'node:http';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';

const piece = Buffer.alloc(65_536, ' ');

function* pieces(bytes) {
  for (let left = bytes; left > 0; left -= piece.length) yield piece.subarray(0, left);
}

async function withFetch({ url, method, headers, bytes, framing }) {
  const body = framing === 'length' ? Buffer.alloc(bytes, ' ') : Readable.toWeb(Readable.from(pieces(bytes)));
  const response = await fetch(url, { method, headers, body, duplex: 'half' });
  return { status: response.status, body: await response.text() };
}

function withHttp({ url, method, headers, bytes, framing }) {
  return new Promise((resolve, reject) => {
    const agent = new Agent({ keepAlive: headers.Connection !== 'close' });
    const length = framing === 'length' ? { 'Content-Length': bytes } : { 'Transfer-Encoding': 'chunked' };
    const sent = httpRequest(url, { method, headers: { ...headers, ...length }, agent }, (response) => {
      const texts = [];
      response.setEncoding('utf8').on('data', (text) => texts.push(text));
      response.on('error', reject).on('end', () => {
        agent.destroy();
        resolve({ status: response.statusCode, body: texts.join('') });
      });
    });
    sent.on('error', reject);
    const send = () => Readable.from(pieces(bytes)).pipe(sent);
    if (headers.Expect === undefined) send();
    else sent.on('continue', send).flushHeaders();
  });
}

for await (const line of createInterface({ input: process.stdin })) {
  const [client, method, url, bytes, framing, ...lines] = line.split('\t');
  const headers = Object.fromEntries(lines.map((header) => header.split(': ')));
  const send = client === 'fetch' ? withFetch : withHttp;
  const request = { method, url, headers, bytes: Number(bytes), framing };
  const { status, body } = await send(request).catch((error) => ({
    status: 0,
    body: `${error} ${error.cause}`,
  }));
  process.stdout.write(`${status}\t${body}\n`);
}
