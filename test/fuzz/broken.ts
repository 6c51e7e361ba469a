/** Requests that are not valid HTTP/1.1: ambiguous framing, malformed lines, changed bytes, cut requests. */
import { type FuzzRequest, type Parts, writeRequest } from './parts.js';
import type { Random } from './random.js';

type Broken = Pick<FuzzRequest, 'bytes' | 'cut' | 'mustBeRefused'>;

type Breaking = (head: readonly string[], body: Buffer, random: Random) => Broken;

const end = '\r\n';

/** Breaks the request in one way. */
export function breakRequest(parts: Parts, random: Random): Broken {
  const whole = writeRequest({ ...parts, chunks: 0 }).toString('latin1');
  const [head = '', rest = ''] = whole.split(/\r\n\r\n(.*)/s);
  return random.pick(BREAKINGS)(head.split(end), Buffer.from(rest, 'latin1'), random);
}

function sent(lines: readonly string[], body: Buffer, about: Partial<Broken> = {}): Broken {
  const bytes = Buffer.concat([Buffer.from(`${lines.join(end)}${end}${end}`, 'latin1'), body]);
  return { bytes, cut: false, mustBeRefused: false, ...about };
}

/** The head without any header about the body's length. */
function withoutFraming(head: readonly string[]): string[] {
  return head.filter((line) => !/^(content-length|transfer-encoding):/i.test(line));
}

/** A request in the body of another. It must never get a response. */
export const smuggled = 'GET /livez HTTP/1.1\r\nHost: smuggled.test\r\n\r\n';

/** The text in chunks of this length, each with its size as `size` writes it. */
export function inChunks(
  text: string,
  chunkLength: number,
  size: (length: number) => string = (length) => length.toString(16),
): string {
  const chunks = Array.from({ length: Math.ceil(text.length / chunkLength) }, (_, at) =>
    text.slice(at * chunkLength, (at + 1) * chunkLength),
  );
  return `${chunks.map((chunk) => `${size(chunk.length)}${end}${chunk}${end}`).join('')}0${end}${end}`;
}

/** Framing headers that are ambiguous or invalid. */
export const BAD_FRAMINGS: readonly (readonly string[])[] = [
  ['Content-Length: 4', 'Transfer-Encoding: chunked'],
  ['Transfer-Encoding: chunked', 'Content-Length: 0'],
  ['Content-Length: 0', 'Content-Length: 44'],
  ['Content-Length: 0, 44'],
  ['Content-Length: +4'],
  ['Content-Length: -0'],
  ['Content-Length: 0x4'],
  ['Content-Length: 4 4'],
  ['Content-Length: 99999999999999999999999999'],
  ['Content-Length: '],
  ['Transfer-Encoding: chunked, identity'],
  ['Transfer-Encoding: identity'],
  ['Transfer-Encoding: xchunked'],
  ['Transfer-Encoding: chunked, chunked'],
  ['Transfer-Encoding: gzip, chunked, gzip'],
  ['Transfer-Encoding: gzip, chunked'],
  ['Transfer-Encoding: identity', 'Transfer-Encoding: chunked'],
  ['Transfer-Encoding: , chunked'],
  ['Transfer-Encoding : chunked'],
  ['Transfer-Encoding:\x0bchunked'],
  ['Transfer\x00-Encoding: chunked'],
  ['Content-Length: 4', ' Transfer-Encoding: chunked'],
  ['X: a', ' Transfer-Encoding: chunked'],
];

/** Chunked bodies that are invalid. */
export const BAD_CHUNKS: readonly string[] = [
  'zz\r\n\r\n',
  '-1\r\n\r\n',
  'ffffffffffffffffffff\r\n',
  '0x4\r\nabcd\r\n0\r\n\r\n',
  '4\nabcd\n0\n\n',
  '4\r\nabcdef\r\n0\r\n\r\n',
  `4;${'a'.repeat(20_000)}\r\nabcd\r\n0\r\n\r\n`,
  '4\r\nabcd0\r\n\r\n',
  ' 4\r\nabcd\r\n0\r\n\r\n',
  '1\r\na\r\n0\r\nContent-Length: 3\r\n\r\n',
  '\r\n\r\n',
];

const INCOMPLETE_CHUNKS: readonly string[] = ['4\r\n', '4\r\nabcd\r\n'];

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
      [...withoutFraming(head), ...random.pick(BAD_FRAMINGS)],
      Buffer.from(inChunks(body.toString('latin1'), 1 + body.length) + smuggled, 'latin1'),
      { mustBeRefused: true, cut: true },
    ),
  (head, _body, random) =>
    sent(
      [...withoutFraming(head), 'Transfer-Encoding: chunked'],
      Buffer.from(random.pick([...BAD_CHUNKS, ...INCOMPLETE_CHUNKS])),
      { cut: true },
    ),
  (head, body, random) => sent([...head, random.pick(LINES)], body, { cut: true }),
  (head, body, random) => sent([random.pick(REQUEST_LINES), ...head.slice(1)], body, { cut: true }),
  // A body that is shorter or longer than Content-Length.
  (head, body, random) =>
    sent([...withoutFraming(head), `Content-Length: ${body.length + 1 + random.int(50)}`], body, {
      cut: true,
    }),
  (head, body, random) =>
    sent([...withoutFraming(head), `Content-Length: ${random.int(body.length + 1)}`], body, { cut: true }),
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
  // But for an export: there, its length is where the connection ends.
  (head, body) =>
    sent([(head[0] ?? '').replace(/(?<!\/queries\S*) HTTP\/1\.1$/, ' HTTP/1.0'), ...head.slice(1)], body),
  (head, body) => ({
    ...sent(head, body),
    bytes: Buffer.concat([Buffer.from('\r\n\r\n'), sent(head, body).bytes]),
  }),
  // A request that is cut.
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
