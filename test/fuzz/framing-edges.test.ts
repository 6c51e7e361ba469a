/** Edge cases of HTTP/1.1 framing: unusual and invalid ways to say where a body ends. */
import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { QUERIES, type Service, sharedService, startService } from '../support/http/http.js';
import { newSeed } from '../support/volume.js';
import { BAD_CHUNKS, BAD_FRAMINGS, inChunks, smuggled } from './broken.js';
import { Random } from './random.js';

const end = '\r\n';
const body = (id: string): string => `{"id":"${id}","caller":"web"}`;

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

const CHUNKED = ['Transfer-Encoding: chunked'];

describe('a body is accepted', () => {
  const service = sharedService();
  test.each<[what: string, framing: string[], sent: (text: string) => string, version?: string]>([
    ['with Content-Length', ['Content-Length: 27'], (text) => text],
    ['with leading zeros in Content-Length', ['Content-Length: 00027'], (text) => text],
    ['in one chunk', CHUNKED, (text) => inChunks(text, 100)],
    ['in chunks of one byte', CHUNKED, (text) => inChunks(text, 1)],
    [
      'in chunks with leading zeros in their sizes',
      CHUNKED,
      (text) => inChunks(text, 10, (length) => `000${length.toString(16)}`),
    ],
    [
      'in chunks with upper-case sizes',
      CHUNKED,
      (text) => inChunks(text, 12, (length) => length.toString(16).toUpperCase()),
    ],
    ['in chunks with extensions', CHUNKED, (text) => inChunks(text, 7, (length) => `${length};a=b;c="d"`)],
    [
      'in chunks with trailers',
      CHUNKED,
      (text) => inChunks(text, 7).replace(/\r\n$/, `X: a${end}Y: b${end}${end}`),
    ],
    [
      'in chunks with an upper-case Transfer-Encoding',
      ['transfer-encoding: CHUNKED'],
      (text) => inChunks(text, 7),
    ],
    ['after empty lines', ['Content-Length: 27'], (text) => text],
    ['in HTTP/1.0', ['Content-Length: 27'], (text) => text, '1.0'],
  ])('%s', async (what, framing, sent, version = '1.1') => {
    const text = body(what.replaceAll(/\W/g, '').slice(0, 3).padEnd(3, 'x'));
    const { length } = text;
    const lines = framing.map((line) => line.replace('27', String(length)));
    const before = what === 'after empty lines' ? end + end : '';
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

describe('invalid framing gets one error response, and the connection is closed', () => {
  const service = sharedService();
  test.each([
    ...BAD_FRAMINGS.map((framing) => [framing, inChunks(body('bad'), 100) + smuggled] as const),
    ...BAD_CHUNKS.map((chunks) => [CHUNKED, chunks] as const),
  ])('%j %.20j', async (framing, sent) => {
    const bytes = Buffer.from(head(service(), framing) + sent, 'latin1');
    const answer = await service().sendRaw(bytes, { connectionError: true });
    expect([answer.headers['connection'], answer.status >= 400]).toEqual(['close', true]);
    expect((await service().store.maintenance.verify()).queries).toBe(0);
  });
});

test.each([
  ['1.0', CHUNKED],
  ['1.0', [...CHUNKED, 'Connection: keep-alive']],
  ['0.9', []],
  ['2.0', []],
])('HTTP/%s with %j is refused, and the connection is closed', async (version, framing) => {
  const service = await startService();
  const sent = head(service, framing, version) + inChunks(body('old'), 100) + smuggled;
  const answer = await service.sendRaw(Buffer.from(sent), { connectionError: true });
  expect([answer.headers['connection'], answer.status]).toEqual(['close', 400]);
  expect((await service.store.maintenance.verify()).queries).toBe(0);
});

test('pipelined requests are answered in order and recorded once, in whatever pieces they arrive', async () => {
  const service = await startService();
  const connection = await service.connect();
  const texts = Array.from({ length: 300 }, (_, at) =>
    at % 3 === 2 ? '{}' : body(`piped ${at - (at % 2)}`),
  );
  const random = new Random(newSeed('fuzz/framing-edges'), 0);
  const bytes = texts
    .map((text) => `${head(service, [`Content-Length: ${text.length}`])}${text}${smuggled}`)
    .join('');
  for (let at = 0; at < bytes.length; ) {
    const length = 1 + random.int(random.pick([10, 1000, 10_000, 100_000]));
    connection.write(bytes.slice(at, at + length));
    at += length;
    await setImmediate();
  }
  for (const text of texts) {
    const { status } = await service.read(connection, { method: 'POST', path: QUERIES });
    expect(status).toBe(text === '{}' ? 400 : 200);
    expect((await service.read(connection, { method: 'GET', path: '/livez' })).text).toBe(
      '{"status":"live"}',
    );
  }
  connection.close();
  expect((await service.store.maintenance.verify()).queries).toBe(
    new Set(texts.filter((text) => text !== '{}')).size,
  );
});
