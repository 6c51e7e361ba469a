import { mkdir, writeFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { type Place, placeWithProject, project, recordedIn, succeed } from '../../support/cli/cli-place.js';
import { sampleLines } from '../../support/sample.js';

const good = (id: string) => `{"id":"${id}","caller":"web"}`;

async function importContent(place: Place, name: string, content: string | Uint8Array, args: string[] = []) {
  await writeFile(place.path(name), content);
  return place.run(['import', name, '--project', project, ...args]);
}

/** Everything that can be wrong with a line of NDJSON. */
const allKinds = Buffer.concat([
  Buffer.from(`${good('first')}\n`),
  Buffer.from('{"id":"cut",\n'),
  Buffer.from('{"id":"x","caller":"web","occuredAt":"2024-01-01T00:00:00Z"}\n'),
  Buffer.from('\n'),
  Buffer.from('{"id":"","caller":"No"}\n'),
  Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d, 0x0a]),
  Buffer.from(`${good('long').padEnd(1024 * 1024 + 1)}\n`),
  Buffer.from('[]\r\n'),
  Buffer.from('{"id":"y","caller":"web","occurredAt":"2024-01-01"}\n'),
  Buffer.from(good('last')),
]);

const manyRows = Array.from({ length: 1000 }, (_, at) => `row-${at},web`).join('\n');

describe('import reports bad lines and records the others:', () => {
  test.concurrent.each<
    [what: string, name: string, content: string | Uint8Array, errors: unknown[], totals: string]
  >([
    [
      'all kinds of NDJSON',
      'q.ndjson',
      allKinds,
      [
        expect.stringMatching(/^q\.ndjson:2: is not JSON/),
        'q.ndjson:3: "occuredAt": is not a field here; did you mean occurredAt?',
        expect.stringMatching(/^q\.ndjson:5: id: is empty; caller: is not /),
        'q.ndjson:6: is not valid UTF-8',
        'q.ndjson:7: is longer than 1048576 bytes',
        expect.stringMatching(/^q\.ndjson:8: is not a query/),
        expect.stringMatching(/^q\.ndjson:9: occurredAt: "2024-01-01" has no time/),
      ],
      '9 read, 2 recorded, 0 duplicates, 7 bad',
    ],
    [
      'lines longer than any chunk of the file',
      'q.ndjson',
      [good('a'), 'x'.repeat(2_000_000), good('b'), 'y'.repeat(1_300_000)].join('\n'),
      ['q.ndjson:2: is longer than 1048576 bytes', 'q.ndjson:4: is longer than 1048576 bytes'],
      '4 read, 2 recorded, 0 duplicates, 2 bad',
    ],
    [
      'wrong values and numbers of fields in CSV',
      'q.csv',
      'id,caller,occurredAt\na,web,\nb,web\nc,web,,more\nd,No,\ne,web,yesterday\nf,web,\ng,web,2026-01-01 10:00:00',
      [
        'q.csv:3: has 2 fields, and the first line names 3 columns',
        'q.csv:4: has 4 fields, and the first line names 3 columns',
        expect.stringMatching(/^q\.csv:5: caller: is not /),
        expect.stringMatching(/^q\.csv:6: occurredAt: "yesterday" is not /),
        expect.stringMatching(/^q\.csv:8: occurredAt: ".*" has no offset: give --time-zone /),
      ],
      '7 read, 2 recorded, 0 duplicates, 5 bad',
    ],
    [
      'a record of CSV longer than 1 MiB, once',
      'q.csv',
      `id,caller\na,web\n${'x'.repeat(1_200_000)},web\n${manyRows}\n`,
      [expect.stringMatching(/^q\.csv:3: /)],
      '1,002 read, 1,001 recorded, 0 duplicates, 1 bad',
    ],
    [
      'a record with several stray quotes, once',
      'q.csv',
      'id,caller\na,web\n"b"b"b"b,web\nc,web\n',
      [expect.stringMatching(/^q\.csv:3: is not valid CSV: /)],
      '3 read, 2 recorded, 0 duplicates, 1 bad',
    ],
  ])('%s', async (_what, name, content, errors, totals) => {
    const place = await placeWithProject();
    const { status, stdout, stderr } = await importContent(place, name, content);
    expect(stderr.trimEnd().split('\n').toSorted()).toEqual(errors);
    expect({ status, stdout }).toEqual({ status: 1, stdout: `${totals}\n` });
    expect(`${recordedIn(place).toLocaleString('en')} recorded`).toBe(totals.split(', ')[1]);
  });

  test.concurrent('on stdin, with totals as JSON', async () => {
    const place = await placeWithProject();
    const { status, stdout, stderr } = await place.run(['import', '-', '--project', project, '--json'], {
      input: `${good('a')}\nno\n${good('a')}\n`,
    });
    expect(stderr).toBe('stdin:2: is not JSON: "no"\n');
    expect(status).toBe(1);
    expect(JSON.parse(stdout)).toEqual({ read: 3, recorded: 1, duplicates: 1, bad: 1, skipped: 0 });
  });

  test.concurrent('and names times that are likely in another unit', async () => {
    const place = await placeWithProject();
    const lines = ['2026-06-15T12:00:00Z', '1970-01-21T15:05:16.8Z', '0001-01-01T00:00:00Z'].map(
      (occurredAt) => JSON.stringify({ id: occurredAt, caller: 'web', occurredAt }),
    );
    const { status, stderr } = await importContent(place, 'q.ndjson', lines.join('\n'));
    expect({ status, stderr }).toEqual({
      status: 0,
      stderr: '2 queries of a time before 2000, the first in q.ndjson:2: is it the right unit?\n',
    });
  });

  test.concurrent('in several files, each with its own line numbers', async () => {
    const place = await placeWithProject();
    await writeFile(place.path('a.ndjson'), `${good('a')}\nno\n`);
    await writeFile(place.path('b.ndjson'), `no\n${good('b')}\n`);
    const files = ['a.ndjson', 'b.ndjson'];
    const { status, stdout, stderr } = await place.run(['import', ...files, '--project', project]);
    expect(stderr).toBe('a.ndjson:2: is not JSON: "no"\nb.ndjson:1: is not JSON: "no"\n');
    expect({ status, stdout }).toEqual({ status: 1, stdout: '4 read, 2 recorded, 0 duplicates, 2 bad\n' });
  });

  test.concurrent.each([
    [
      'an unknown column',
      'id,caller,occuredAt',
      ['"occuredAt": is not a column here; did you mean occurredAt?'],
    ],
    ['a missing column', 'id,occurredAt', ['caller: there is no such column']],
    ['a repeated column', 'id,caller,id', ['id: there are two such columns']],
    ['no header line', 'a,web', ['id: there is no such column', 'caller: there is no such column']],
  ])('%s: nothing of the file is recorded', async (_what, header, messages) => {
    const place = await placeWithProject();
    await writeFile(place.path('good.csv'), 'id,caller\nz,web\n');
    await writeFile(place.path('q.csv'), `${header}\na,web,2024-01-01T00:00:00Z\n`);
    const { status, stderr } = await place.run(['import', 'q.csv', 'good.csv', '--project', project]);
    expect(stderr).toMatch(/^q\.csv:1: /);
    for (const message of messages) expect(stderr).toContain(message);
    expect(status).toBe(1);
    expect(recordedIn(place)).toBe(1);
  });

  test.concurrent('bytes that are not UTF-8', async () => {
    const place = await placeWithProject();
    const content = Buffer.concat([
      Buffer.from('id,caller\na,web\n'),
      Buffer.from([0xff, 0xfe]),
      Buffer.from(',web\nb,web\n'),
    ]);
    const { status, stderr } = await importContent(place, 'q.csv', content);
    expect(stderr).toMatch(/q\.csv.*UTF-8/);
    expect(status).toBe(1);
  });
});

describe('import reports a file that', () => {
  test.concurrent.each([
    ['is missing', async () => {}, 'there is no such file'],
    [
      'is below a file',
      (place: Place) => writeFile(place.path('q'), ''),
      'there is no such file',
      'q/q.ndjson',
    ],
    ['is a folder', (place: Place) => mkdir(place.path('q.ndjson')), 'it is a folder'],
    ['has too long a name', async () => {}, 'ENAMETOOLONG', 'q'.repeat(300)],
  ])('%s', async (_why, prepare, problem, name = 'q.ndjson') => {
    const place = await placeWithProject();
    await prepare(place);
    const { status, stdout, stderr } = await place.run(['import', name, '--project', project]);
    expect(stderr).toBe(`caller-stats: ${name} cannot be read: ${problem}.\n`);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  });

  test.concurrent.each([
    ['truncated gzip', (bytes: Buffer) => bytes.subarray(0, -1000), /cut short/],
    ['damaged gzip', (bytes: Buffer) => Buffer.from(bytes).fill(0xaa, 5_000, 6_000), /damaged/],
  ])('is %s, and a second import of the whole file completes it', async (_what, spoil, reason) => {
    const place = await placeWithProject();
    const whole = gzipSync(sampleLines().join('\n'));
    const { status, stdout, stderr } = await importContent(place, 'q.ndjson.gz', spoil(whole));
    expect(stderr).toMatch(/^q\.ndjson\.gz: cannot be read to its end/m);
    expect(stdout).toMatch(/^[\d,]+ read, [1-9][\d,]* recorded, \d+ duplicates, \d+ bad\n$/);
    expect(stderr).toMatch(reason);
    expect(status).toBe(1);
    await succeed(importContent(place, 'q.ndjson.gz', whole));
    expect(recordedIn(place)).toBe(30_269);
  });
});
