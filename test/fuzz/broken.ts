/** What is hardly HTTP: framing that says two things, lines that are none, bytes that changed on their way. */
import { bytesOf, type Parts } from './parts.js';
import type { Random } from './random.js';

export interface Broken {
  readonly bytes: Buffer;
  /** The client stops sending: what is not whole need not be answered. */
  readonly cut: boolean;
  /** The service must refuse it, or what comes with it could be taken for a request of somebody else's. */
  readonly mustBeRefused: boolean;
}

type Breaking = (head: readonly string[], body: Buffer, random: Random) => Broken;

const end = '\r\n';

/** The request, broken in one way. */
export function broken(parts: Parts, random: Random): Broken {
  const whole = bytesOf({ ...parts, chunks: 0 }).toString('latin1');
  const [head = '', rest = ''] = whole.split(/\r\n\r\n(.*)/s);
  return random.pick(BREAKINGS)(head.split(end), Buffer.from(rest, 'latin1'), random);
}

function sent(lines: readonly string[], body: Buffer, about: Partial<Broken> = {}): Broken {
  const bytes = Buffer.concat([Buffer.from(`${lines.join(end)}${end}${end}`, 'latin1'), body]);
  return { bytes, cut: false, mustBeRefused: false, ...about };
}

/** The head without any line about the body's length. */
function unframed(head: readonly string[]): string[] {
  return head.filter((line) => !/^(content-length|transfer-encoding):/i.test(line));
}

/** A request that nobody sent: it must never be answered. */
const smuggled = 'GET /livez HTTP/1.1\r\nHost: smuggled.test\r\n\r\n';
const inChunks = (body: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')]);
const refused = { mustBeRefused: true, cut: true } as const;

/** Two statements about where a body ends. */
const FRAMINGS: readonly (readonly string[])[] = [
  ['Content-Length: 4', 'Transfer-Encoding: chunked'],
  ['Transfer-Encoding: chunked', 'Content-Length: 0'],
  ['Content-Length: 0', 'Content-Length: 44'],
  ['Content-Length: 0, 44'],
  ['Content-Length: +4'],
  ['Content-Length: 0x4'],
  ['Content-Length: 4 4'],
  ['Content-Length: 99999999999999999999999999'],
  ['Content-Length: '],
  ['Transfer-Encoding: chunked, identity'],
  ['Transfer-Encoding: identity'],
  ['Transfer-Encoding: xchunked'],
  ['Transfer-Encoding: chunked, chunked'],
  ['Transfer-Encoding: gzip, chunked, gzip'],
  ['Transfer-Encoding : chunked'],
  ['Transfer-Encoding:\x0bchunked'],
  ['Transfer\x00-Encoding: chunked'],
  ['Content-Length: 4', ' Transfer-Encoding: chunked'],
];

const CHUNKS: readonly string[] = [
  'zz\r\n\r\n',
  '-1\r\n\r\n',
  'ffffffffffffffffffff\r\n',
  '0x4\r\nabcd\r\n0\r\n\r\n',
  '4\nabcd\n0\n\n',
  '4\r\nabcdef\r\n0\r\n\r\n',
  `4;${'a'.repeat(20_000)}\r\nabcd\r\n0\r\n\r\n`,
  '4\r\nabcd0\r\n\r\n',
  ' 4\r\nabcd\r\n0\r\n\r\n',
  '4\r\n',
  '\r\n\r\n',
  '4\r\nabcd\r\n',
];

const LINES: readonly string[] = [
  'broken',
  ': no name',
  'X: a\0b',
  'X Y: a',
  'X\x7f: a',
  ' folded',
  'X: a\rb',
  'X: a\nY',
  '\x80\xff: a',
  'X: \x01',
  `${'x'.repeat(9000)}: a`,
  ...Array.from({ length: 2 }, (_, at) =>
    Array.from({ length: 900 + at * 1200 }, (_one, n) => `H${n}: ${n}`).join(end),
  ),
];

const REQUEST_LINES: readonly string[] = [
  'GET',
  'GET /livez',
  'GET  /livez HTTP/1.1',
  'GET /livez HTTP/1.1 x',
  'get /livez HTTP/1.1',
  'GET /livez HTTP/2.0',
  'GET /livez HTTP/9.9',
  'GET /livez http/1.1',
  'GET /livez HTTP/1.1\t',
  'GET\t/livez\tHTTP/1.1',
  'CONNECT a:1 HTTP/1.1',
  'GET /a\0b HTTP/1.1',
  'GET /\x80 HTTP/1.1',
  'FETCH / HTTP/1.1',
  'PRI * HTTP/2.0',
  '\x16\x03\x01\x02\0\x01',
  '',
  '\0',
  `GET /${'a'.repeat(17_000)} HTTP/1.1`,
  'GET livez HTTP/1.1',
  'GET ?a HTTP/1.1',
  'GET #a HTTP/1.1',
  'GET http:// HTTP/1.1',
  'GET http:///livez HTTP/1.1',
  'GET //livez HTTP/1.1',
  'GET /%00 HTTP/1.1',
  'GET /livez HTTP/1.0',
  'GET /livez HTTP/0.9',
  'GET \\livez HTTP/1.1',
  'GET /a b HTTP/1.1',
  'OPTIONS * HTTP/1.1',
  'GET * HTTP/1.1',
  'SOURCE /livez ICE/1.0',
  'GET /livez RTSP/1.0',
  'M-SEARCH * HTTP/1.1',
];

const BREAKINGS: readonly Breaking[] = [
  (head, body, random) =>
    sent(
      [...unframed(head), ...random.pick(FRAMINGS)],
      Buffer.concat([inChunks(body), Buffer.from(smuggled)]),
      refused,
    ),
  (head, _body, random) =>
    sent([...unframed(head), 'Transfer-Encoding: chunked'], Buffer.from(random.pick(CHUNKS)), { cut: true }),
  (head, body, random) => sent([...head, random.pick(LINES)], body, { cut: true }),
  (head, body, random) => sent([random.pick(REQUEST_LINES), ...head.slice(1)], body, { cut: true }),
  // Longer and shorter than it says.
  (head, body, random) =>
    sent([...unframed(head), `Content-Length: ${body.length + 1 + random.int(50)}`], body, { cut: true }),
  (head, body, random) =>
    sent([...unframed(head), `Content-Length: ${random.int(body.length + 1)}`], body, { cut: true }),
  (head, body) => ({
    ...sent(head, body, { cut: true }),
    bytes: Buffer.from(`${head.join('\n')}\n\n${body.toString('latin1')}`, 'latin1'),
  }),
  (head, body) =>
    sent(
      head.filter((line) => !/^host:/i.test(line)),
      body,
    ),
  (head, body) => sent([...head, 'Host: other.test'], body),
  (head, body) => sent([(head[0] ?? '').replace('1.1', '1.0'), ...head.slice(1)], body),
  (head, body) => ({
    ...sent(head, body),
    bytes: Buffer.concat([Buffer.from('\r\n\r\n'), sent(head, body).bytes]),
  }),
  // Stops in the midst of it.
  (head, body, random) => {
    const { bytes } = sent(head, body);
    return { bytes: bytes.subarray(0, 1 + random.int(bytes.length)), cut: true, mustBeRefused: false };
  },
  (head, body, random) => {
    const bytes = Buffer.from(sent(head, body).bytes);
    for (let left = 1 + random.int(5); left > 0; left--) bytes[random.int(bytes.length)] = random.int(256);
    return { bytes, cut: true, mustBeRefused: false };
  },
  (_head, _body, random) => ({
    bytes: Buffer.from(random.times(1 + random.int(300), () => random.int(256))),
    cut: true,
    mustBeRefused: false,
  }),
];
