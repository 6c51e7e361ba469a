import { writeFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { Counts } from '../../../src/domain/counting/counts.js';
import { ALL_TIME } from '../../../src/domain/counting/date-range.js';
import type { RunOptions } from '../../support/cli/cli.js';
import {
  type Place,
  placeWithProject,
  placeWithSample,
  project,
  refusal,
  succeed,
} from '../../support/cli/cli-place.js';
import { eventsOf, sampleCounts, sampleFile, sampleLines } from '../../support/sample.js';
import { recount } from '../../support/storage/ledger.js';
import { openForTest } from '../../support/storage/store.js';
import { isDeep } from '../../support/volume.js';

/** The quick run imports all of the sample only in the forms that have tests of their own. */
const lines = sampleLines().slice(0, isDeep ? undefined : 4000);
const ndjson = `${lines.join('\n')}\n`;
const events = eventsOf(lines);
/** Of queries with the same id, the first one counts. */
const queries = [...new Map(events.toReversed().map((event) => [event.id, event])).values()].map(
  ({ id, caller, occurredAt }) => ({ id, caller, occurredAt: Date.parse(occurredAt) }),
);

const shown = (count: number) => count.toLocaleString('en');
const firstTime = `${shown(lines.length)} read, ${shown(queries.length)} recorded, ${shown(lines.length - queries.length)} duplicates\n`;
const again = `${shown(lines.length)} read, 0 recorded, ${shown(lines.length)} duplicates\n`;

const csv = ['id,caller,occurredAt', ...events.map((e) => `${e.id},${e.caller},${e.occurredAt}`), ''].join(
  '\n',
);
/** As spreadsheets export it: byte order mark, quotes, CRLF, another order of columns, no last line break. */
const spreadsheet = `\uFEFF${[
  '"occurredAt","id","caller"',
  ...events.map((e) => `"${e.occurredAt}","${e.id}","${e.caller}"`),
].join('\r\n')}`;

async function importFile(place: Place, name: string, content: string | Uint8Array, args: string[] = []) {
  await writeFile(place.path(name), content);
  return place.run(['import', name, '--project', project, ...args]);
}

function importInput(place: Place, input: RunOptions['input'] & {}, args: string[] = []) {
  return place.run(['import', '-', '--project', project, ...args], { input });
}

async function expectCounts(place: Place, counts: Counts | undefined): Promise<void> {
  const { stdout } = await succeed(place.run(['stats', project, '--json']));
  expect(JSON.parse(stdout)).toEqual(counts);
}

describe('the sample', () => {
  test('has duplicates in the part of it that is imported in each form', () => {
    expect(queries.length).toBeLessThan(lines.length);
  });

  test.concurrent('is counted once, however often it is imported', async () => {
    const place = await placeWithProject();
    const args = ['import', sampleFile, '--project', project];
    const [first, second] = ['30,269 recorded, 605', '0 recorded, 30,874'].map(
      (counts) => `30,874 read, ${counts} duplicates\n`,
    );
    expect(await place.run(args)).toEqual({ status: 0, signal: null, stdout: first, stderr: '' });
    expect(await place.run(args)).toEqual({ status: 0, signal: null, stdout: second, stderr: '' });
    await expectCounts(place, sampleCounts);
  });

  test.concurrent.each<[string, (place: Place) => ReturnType<Place['run']>]>([
    ['a plain file', (place) => importFile(place, 'queries.ndjson', ndjson)],
    ['plain stdin', (place) => importInput(place, ndjson)],
    ['gzip stdin', (place) => importInput(place, gzipSync(ndjson))],
    ['CSV', (place) => importFile(place, 'queries.csv', csv)],
    ['CSV of a spreadsheet', (place) => importFile(place, 'queries.CSV', spreadsheet)],
    ['gzip CSV', (place) => importFile(place, 'queries.csv.gz', gzipSync(csv))],
    ['CSV on stdin', (place) => importInput(place, csv, ['--format', 'csv'])],
  ])('has the same queries when imported from %s', async (_form, run) => {
    const place = await placeWithProject();
    expect(await run(place)).toEqual({ status: 0, signal: null, stdout: firstTime, stderr: '' });
    expect((await succeed(importInput(place, ndjson))).stdout).toBe(again);
    await expectCounts(place, recount(queries, ALL_TIME));
  });

  test.concurrent('can be imported from files of several formats at once', async () => {
    const place = await placeWithProject();
    const all = sampleLines();
    await writeFile(place.path('a.ndjson'), all.slice(0, 10_000).join('\r\n'));
    await writeFile(place.path('b.ndjson.gz'), gzipSync(all.slice(10_000, 20_000).join('\n')));
    await writeFile(place.path('c.csv'), csv);
    const files = ['a.ndjson', 'b.ndjson.gz', '-', 'c.csv'];
    const input = all.slice(20_000).join('\n');
    const { stdout } = await succeed(place.run(['import', ...files, '--project', project], { input }));
    const read = all.length + lines.length;
    expect(stdout).toBe(`${shown(read)} read, 30,269 recorded, ${shown(read - 30_269)} duplicates\n`);
    await expectCounts(place, sampleCounts);
  });

  test.concurrent('can be imported from concatenated gzip files', async () => {
    const place = await placeWithProject();
    const half = Math.floor(ndjson.length / 2);
    const members = [gzipSync(ndjson.slice(0, half)), gzipSync(ndjson.slice(half))];
    const { stdout } = await succeed(importInput(place, Buffer.concat(members)));
    expect(stdout).toBe(firstTime);
  });

  test.concurrent('has its totals printed as JSON', async () => {
    const place = await placeWithSample();
    const { stdout } = await succeed(place.run(['import', sampleFile, '--project', project, '--json']));
    expect(JSON.parse(stdout)).toEqual({ read: 30_874, recorded: 0, duplicates: 30_874, bad: 0, skipped: 0 });
  });
});

describe('a file', () => {
  test.concurrent('is read by its content and --format, whatever its name', async () => {
    const place = await placeWithProject();
    const [line, table] = ['{"id":"a","caller":"web"}\n', 'id,caller\nb,web\n'];
    const totals = async (name: string, content: string | Uint8Array, format: string) =>
      (await importFile(place, name, content, ['--format', format])).stdout;
    const one = '1 read, 1 recorded, 0 duplicates\n';
    expect((await importFile(place, 'lines', gzipSync(line))).stdout).toBe(one);
    expect(await totals('table.txt', table, 'csv')).toBe(one);
    expect(await totals('lines.csv', line.replace('a', 'c'), 'ndjson')).toBe(one);
    expect((await importFile(place, 'plain.csv.gz', table.replace('b', 'd'))).stdout).toBe(one);
  });

  test.concurrent('that is empty or blank records nothing and succeeds', async () => {
    const place = await placeWithProject();
    await writeFile(place.path('blank.ndjson'), '\n  \r\n\t\n');
    await writeFile(place.path('blank.csv'), 'id,caller\n\n');
    for (const name of ['blank.ndjson', 'blank.csv']) {
      const { stdout } = await succeed(place.run(['import', name, '--project', project]));
      expect(stdout).toBe('0 read, 0 recorded, 0 duplicates\n');
    }
    const { stdout } = await succeed(importInput(place, ''));
    expect(stdout).toBe('0 read, 0 recorded, 0 duplicates\n');
  });

  test.concurrent('may start with a byte order mark', async () => {
    const place = await placeWithProject();
    const { stdout } = await succeed(importInput(place, '\uFEFF{"id":"a","caller":"web"}\n'));
    expect(stdout).toBe('1 read, 1 recorded, 0 duplicates\n');
  });

  test.concurrent('of CSV has the same ids as NDJSON, even with commas, quotes and line breaks', async () => {
    const place = await placeWithProject();
    const ids = ['a,b', 'say "hi"', 'two\nlines', ' spaces ', 'é🎉'];
    const rows = ids.map((id) => `"${id.replaceAll('"', '""')}",web,`);
    const fromCsv = importFile(place, 'q.csv', ['id,caller,occurredAt', ...rows].join('\n'));
    expect((await succeed(fromCsv)).stdout).toBe('5 read, 5 recorded, 0 duplicates\n');
    const lines = ids.map((id) => JSON.stringify({ id, caller: 'api' })).join('\n');
    expect((await succeed(importInput(place, lines))).stdout).toBe('5 read, 0 recorded, 5 duplicates\n');
    const { stdout } = await place.run(['stats', project, '--json']);
    expect(JSON.parse(stdout)).toEqual({ web: 5, api: 0, other: 0, total: 5 });
  });

  test.concurrent('may have a line of exactly 1 MiB', async () => {
    const place = await placeWithProject();
    const line = '{"id":"a","caller":"web"}'.padEnd(1024 * 1024);
    expect((await succeed(importInput(place, `${line}\n${line}`))).stdout).toBe(
      '2 read, 1 recorded, 1 duplicates\n',
    );
  });
});

describe('import refuses', () => {
  test.concurrent('an unknown project before it reads a file', async () => {
    const place = await placeWithProject();
    expect(await refusal(place.run(['import', sampleFile, '--project', 'other']), 1)).toBe(
      'caller-stats: There is no project other.\n',
    );
  });

  test.concurrent.each([
    ['stdin twice', ['import', '-', '-', '--project', project], /- is given twice/],
    ['no file', ['import', '--project', project], /missing required argument 'file'/],
    ['no project', ['import', '-'], /--project <id>/],
    ['an unknown format', ['import', '-', '--project', project, '--format', 'xml'], /ndjson, json, csv/],
  ])('%s', async (_what, args, message) => {
    const place = await placeWithProject();
    expect(await refusal(place.run(args), 2)).toMatch(message);
  });
});

test('an import into the database counts among what arrives, and a dry run does not', async () => {
  const place = await placeWithProject();
  const some = `${lines.slice(0, 3).join('\n')}\n{"id":"x"}\n`;
  await importFile(place, 'some.ndjson', some, ['--dry-run']);
  await importFile(place, 'some.ndjson', some);
  const store = await openForTest(`sqlite:${place.database}`);
  const counts = { requests: 1, refused: 0, arrived: 4, rejected: 1, unmatched: 0 };
  const [source, ...others] = await store.ingestion.sum(project, 0);
  expect(others).toEqual([]);
  expect(source).toMatchObject({ kind: 'import', name: 'caller-stats import', counts });
  expect((source?.counts.recorded ?? 0) + (source?.counts.duplicates ?? 0)).toBe(3);
});
