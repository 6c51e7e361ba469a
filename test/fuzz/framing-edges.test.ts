/** The edges of HTTP/1.1 framing: where a body ends, said in every odd way, over connections of their own. */
import { describe, expect, test } from 'vitest';
import { QUERIES, type Service, sharedService, startService } from '../support/http.js';

const end = '\r\n';
const body = (id: string): string => `{"id":"${id}","caller":"web"}`;
/** What somebody would like to have taken for a request of somebody else's. */
const smuggled = `GET /livez HTTP/1.1${end}Host: test${end}${end}`;

function head(service: Service, framing: readonly string[], version = '1.1'): string {
  const key = `Authorization: Bearer ${service.keys.admin}`;
  return [
    `POST ${QUERIES} HTTP/${version}`,
    'Host: test',
    key,
    'Content-Type: application/json',
    ...framing,
    '',
    '',
  ].join(end);
}

/** The text in chunks of so many bytes, each size written as `size` says. */
function chunked(
  text: string,
  bytes: number,
  size: (length: number) => string = (length) => length.toString(16),
): string {
  const pieces = Array.from({ length: Math.ceil(text.length / bytes) }, (_, at) =>
    text.slice(at * bytes, (at + 1) * bytes),
  );
  return `${pieces.map((piece) => `${size(piece.length)}${end}${piece}${end}`).join('')}0${end}${end}`;
}

const CHUNKED = ['Transfer-Encoding: chunked'];

describe('a body that is taken', () => {
  const service = sharedService();
  test.each<[what: string, framing: string[], sent: (text: string) => string, version?: string]>([
    ['by its length', ['Content-Length: 27'], (text) => text],
    ['by its length with zeros before it', ['Content-Length: 00027'], (text) => text],
    ['in one chunk', CHUNKED, (text) => chunked(text, 100)],
    ['in chunks of a byte', CHUNKED, (text) => chunked(text, 1)],
    [
      'in chunks whose sizes have zeros before them',
      CHUNKED,
      (text) => chunked(text, 10, (length) => `000${length.toString(16)}`),
    ],
    [
      'in chunks with capitals as sizes',
      CHUNKED,
      (text) => chunked(text, 12, (length) => length.toString(16).toUpperCase()),
    ],
    ['in chunks with extensions', CHUNKED, (text) => chunked(text, 7, (length) => `${length};a=b;c="d"`)],
    [
      'in chunks with trailers',
      CHUNKED,
      (text) => chunked(text, 7).replace(/\r\n$/, `X: a${end}Y: b${end}${end}`),
    ],
    ['in chunks of another spelling', ['transfer-encoding: CHUNKED'], (text) => chunked(text, 7)],
    ['behind line ends', ['Content-Length: 27'], (text) => text],
    ['of HTTP/1.0', ['Content-Length: 27'], (text) => text, '1.0'],
  ])('%s', async (what, framing, sent, version = '1.1') => {
    const text = body(what.replaceAll(/\W/g, '').slice(0, 3).padEnd(3, 'x'));
    const { length } = text;
    const lines = framing.map((line) => line.replace('27', String(length)));
    const before = what === 'behind line ends' ? end + end : '';
    const connection = await service().connect();
    connection.write(before + head(service(), [...lines, 'Connection: close'], version) + sent(text));
    const answer = await service().read(connection, { method: 'POST', path: QUERIES });
    expect([answer.status, JSON.parse(answer.text)]).toEqual([
      200,
      { recorded: expect.any(Number), duplicates: expect.any(Number) },
    ]);
    await connection.ended();
    connection.close();
  });
});

/** Framing that two readers could read in two ways, or that none can. */
const REFUSED: readonly (readonly [framing: string, sent: string])[] = [
  ['Content-Length: 5\r\nTransfer-Encoding: chunked', `0${end}${end}${smuggled}`],
  ['Transfer-Encoding: chunked\r\nContent-Length: 5', `0${end}${end}${smuggled}`],
  ['Content-Length: 0\r\nContent-Length: 44', smuggled],
  ['Content-Length: 0, 44', smuggled],
  ['Content-Length: +27', body('plus')],
  ['Content-Length: 0x1b', body('hexa')],
  ['Content-Length: 27 27', body('twice')],
  ['Content-Length: 99999999999999999999999999', body('huge')],
  ['Content-Length: ', body('none')],
  ['Content-Length: -0', body('minus')],
  ['Transfer-Encoding: identity', body('identity')],
  ['Transfer-Encoding: xchunked', chunked(body('x'), 9)],
  ['Transfer-Encoding: chunked, identity', chunked(body('two'), 9)],
  ['Transfer-Encoding : chunked', chunked(body('space'), 9)],
  ['Transfer-Encoding:\x0bchunked', chunked(body('tab'), 9)],
  ['X: a\r\n Transfer-Encoding: chunked', chunked(body('folded'), 9)],
  ['Transfer-Encoding: chunked', `ffffffffffffffffffff${end}`],
  ['Transfer-Encoding: chunked', `-1${end}${end}`],
  ['Transfer-Encoding: chunked', `0x5${end}abcde${end}0${end}${end}`],
  ['Transfer-Encoding: chunked', `5${end}abcdefgh${end}0${end}${end}`],
  ['Transfer-Encoding: chunked', '5\nabcde\n0\n\n'],
  ['Transfer-Encoding: chunked', `1${end}a${end}0${end}Content-Length: 3${end}${end}`],
  ['Transfer-Encoding: chunked', `5;${'a'.repeat(20_000)}${end}abcde${end}0${end}${end}`],
];

describe('framing that is refused, with one answer and the end of the connection', () => {
  const service = sharedService();
  test.each(
    REFUSED.map(([framing, sent]) => [`${framing}\r\n\r\n${sent.slice(0, 20)}`, framing, sent] as const),
  )('%j', async (_shown, framing, sent) => {
    const bytes = Buffer.from(head(service(), framing.split(end)) + sent, 'latin1');
    const answer = await service().sendRaw(bytes, { connectionError: true });
    expect([answer.headers['connection'], answer.status >= 400]).toEqual(['close', true]);
    expect((await service().store.verify()).queries).toBe(0);
  });
});

test('requests that are sent without waiting are answered in their order', async () => {
  const service = await startService();
  const connection = await service.connect();
  const texts = Array.from({ length: 300 }, (_, at) =>
    at % 3 === 2 ? '{}' : body(`piped ${at - (at % 2)}`),
  );
  connection.write(
    texts.map((text) => `${head(service, [`Content-Length: ${text.length}`])}${text}${smuggled}`).join(''),
  );
  for (const text of texts) {
    const { status } = await service.read(connection, { method: 'POST', path: QUERIES });
    expect(status).toBe(text === '{}' ? 400 : 200);
    expect((await service.read(connection, { method: 'GET', path: '/livez' })).text).toBe(
      '{"status":"live"}',
    );
  }
  connection.close();
  expect((await service.store.verify()).queries).toBe(new Set(texts.filter((text) => text !== '{}')).size);
});
