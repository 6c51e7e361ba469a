/** Edge cases of gzip: several members, cut and changed bytes, bombs. */
import { crc32, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { bodyBytesMax } from '../../src/domain/limits.js';
import { errorOf, sharedService, startService } from '../support/http/http.js';

const NOT_GZIP = 'The body is not valid gzip, though its Content-Encoding says so.';
const DECODED = `The body has more than ${bodyBytesMax} bytes once decoded; send fewer queries at a time.`;
const GZIP = { 'content-encoding': 'gzip', 'content-type': 'application/x-ndjson' };
const line = (id: string): string => `{"id":"${id}","caller":"web"}\n`;
const members = (...texts: string[]): Buffer => Buffer.concat(texts.map((text) => gzipSync(text)));

/** A member with the optional header fields of RFC 1952: extra, name, comment and header checksum. */
function withFields(text: string): Buffer {
  const plain = gzipSync(text);
  const head = Buffer.from(plain.subarray(0, 10));
  head[3] = 0b11110;
  const fields = Buffer.concat([
    Buffer.from([3, 0, 1, 2, 3]),
    Buffer.from('name\0'),
    Buffer.from('a comment\0'),
  ]);
  const start = Buffer.concat([head, fields]);
  const checksum = Buffer.alloc(2);
  checksum.writeUInt16LE(crc32(start) & 0xffff);
  return Buffer.concat([start, checksum, plain.subarray(10)]);
}

/** Members that take 10 KB each and hold 10 MB of white space. */
const bomb = (count: number): Buffer =>
  Buffer.concat(Array(count).fill(gzipSync(Buffer.alloc(bodyBytesMax, ' '))));

describe('a gzip body is accepted', () => {
  const service = sharedService();
  test.each([
    ['one member', members(line('one')), 1],
    ['several members, some of them empty', members(line('a'), '', line('b'), ''), 2],
    ['a line across two members', members('{"id":"cut","cal', 'ler":"web"}'), 1],
    ['all optional header fields', withFields(line('fields')), 1],
    ['uncompressed data', gzipSync(line('stored'), { level: 0 }), 1],
    ['no data', members(''), 0],
    ['the largest allowed size', members(line('full').padEnd(bodyBytesMax, ' ')), 1],
  ])('%s', async (_what, body, recorded) => {
    expect((await service().record(body, GZIP)).text).toBe(`{"recorded":${recorded},"duplicates":0}`);
  });
});

describe('a gzip body is refused', () => {
  const service = sharedService();
  test.each([
    [
      'one byte more than the largest size',
      members(line('full').padEnd(bodyBytesMax + 1, ' ')),
      413,
      DECODED,
    ],
    ['a bomb of a hundred members', bomb(100), 413, DECODED],
    [
      'a second member that is cut',
      Buffer.concat([members(line('a')), members(line('b')).subarray(0, 15)]),
      400,
      NOT_GZIP,
    ],
    ['another compression method', Buffer.from([0x1f, 0x8b, 7, ...gzipSync('').subarray(3)]), 400, NOT_GZIP],
    ['a Zstandard frame', Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x20, 0, 1, 0, 0]), 400, NOT_GZIP],
  ])('%s', async (_what, body, status, error) => {
    const { record, store } = service();
    const answer = await record(body, GZIP);
    expect([answer.status, errorOf(answer)]).toEqual([status, error]);
    expect((await store.maintenance.verify()).queries).toBe(0);
  });

  test('if it is cut after any byte, and nothing is recorded', async () => {
    const { record, store } = service();
    const whole = members(line('cut'), line('too'));
    const between = members(line('cut')).length;
    for (let length = 0; length < whole.length; length++) {
      const answer = await record(whole.subarray(0, length), GZIP);
      expect([length, answer.status]).toEqual([length, length === between ? 200 : 400]);
    }
    expect((await store.maintenance.verify()).queries).toBe(1);
  });
});

test('a gzip body with a changed byte is refused or decodes to the same queries', async () => {
  const { record, store } = await startService();
  const whole = withFields(line('same'));
  for (let at = 0; at < whole.length; at++) {
    for (const change of [0x01, 0x80, 0xff]) {
      const bytes = Buffer.from(whole);
      bytes[at] = (bytes[at] ?? 0) ^ change;
      const answer = await record(bytes, GZIP);
      expect([200, 400]).toContain(answer.status);
    }
  }
  expect((await record(line('same'), { 'content-type': 'application/x-ndjson' })).status).toBe(200);
  expect((await store.maintenance.verify()).queries).toBe(1);
});
