/** Part of the sample, as other systems would export it: every format imports the same queries. */
import { writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import type { Counts } from '../../../src/domain/counting/counts.js';
import { placeWithProject, project, refusal, succeed } from '../../support/cli/cli-place.js';
import { eventsOf, sampleFile, sampleLines } from '../../support/sample.js';

const lines = sampleLines().slice(0, 5000);
const events = eventsOf(lines);
const queries = new Set(events.map(({ id }) => id)).size;
const repeats = events.length - queries;
const imported = `${queries.toLocaleString('en')} recorded, ${repeats} duplicates`;

/** Imports a text, checks that it has the same queries as the sample's own lines, and returns what was printed. */
async function importAs(text: string, args: readonly string[]): Promise<string> {
  const place = await placeWithProject();
  await writeFile(place.path('export'), text);
  const { stdout } = await succeed(place.run(['import', 'export', '--project', project, ...args]));
  const counts = async () =>
    JSON.parse((await succeed(place.run(['stats', project, '--json']))).stdout) as Counts;
  const before = await counts();
  expect(before.total).toBe(queries);
  await writeFile(place.path('sample.ndjson'), lines.join('\n'));
  const again = await succeed(place.run(['import', 'sample.ndjson', '--project', project]));
  expect(again.stdout).toBe('5,000 read, 0 recorded, 5,000 duplicates\n');
  // Another project with the sample's own lines has the same counts.
  await succeed(place.run(['project', 'create', 'Sample', '--id', 'sample']));
  await succeed(place.run(['import', 'sample.ndjson', '--project', 'sample']));
  const { stdout: own } = await succeed(place.run(['stats', 'sample', '--json']));
  expect(before).toEqual(JSON.parse(own));
  return stdout;
}

test.concurrent('a stream in which every second event is of another kind', async () => {
  const records = events.flatMap(({ id, caller, occurredAt }, at) => {
    const payload = {
      event_id: id,
      created_at: occurredAt,
      event: 'assistant',
      properties: { source: caller },
    };
    return [
      { eventType: 'docs.assistant.completed', payload: at % 2 === 0 ? payload : JSON.stringify(payload) },
      { eventType: 'docs.page.viewed', payload: { ...payload, event_id: `page-${at}` } },
    ];
  });
  const text = records.map((record) => JSON.stringify(record)).join('\n');
  const args = ['--format', 'stream', '--caller', 'properties.source'];
  expect(await importAs(text, args)).toBe(`10,000 read, ${imported}, 5,000 skipped\n`);
});

test.concurrent('a database table with other column names, times and callers', async () => {
  const rows = events.map(({ id, caller, occurredAt }) => {
    const time = new Date(occurredAt).toISOString().slice(0, 19).replace('T', ' ');
    return `${time},"What, ""exactly""?",${id},${caller === 'web' ? 'Docs Site' : caller}`;
  });
  const text = ['sent_at,question,message_id,origin', ...rows].join('\n');
  const map = ['--map', 'id=message_id', '--map', 'caller=origin', '--map', 'occurredAt=sent_at'];
  const args = ['--format', 'csv', ...map, '--time-format', 'utc', '--caller-value', 'Docs Site=web'];
  expect(await importAs(text, args)).toBe(`5,000 read, ${imported}\n`);
});

test.concurrent('nested objects with times in seconds', async () => {
  const records = events.map(({ id, caller, occurredAt }) =>
    JSON.stringify({
      message: { id, at: Date.parse(occurredAt) / 1000 },
      ...(caller === 'web' ? {} : { caller }),
    }),
  );
  const map = ['--map', 'id=message.id', '--map', 'occurredAt=message.at'];
  const args = [...map, '--time-format', 's', '--caller', 'web'];
  expect(await importAs(records.join('\n'), args)).toBe(`5,000 read, ${imported}\n`);
});

test.concurrent('UTF-16 with a separator line and local times, one of which occurred twice', async () => {
  const place = await placeWithProject();
  const times = ['2026-03-29 01:59:59', '2026-03-29 02:00:00', '2026-10-25 02:30:00'];
  const text = ['sep=;', 'id;caller;occurredAt', ...times.map((time, at) => `q-${at};web;${time}`)].join(
    '\r\n',
  );
  await writeFile(place.path('q.csv'), Buffer.from(`\ufeff${text}`, 'utf16le'));
  const run = await place.run(['import', 'q.csv', '--project', project, '--time-zone', 'Europe/Berlin']);
  expect(run).toMatchObject({ status: 1, stdout: '3 read, 2 recorded, 0 duplicates, 1 bad\n' });
  expect(run.stderr).toMatch(
    /^q\.csv:4: occurredAt: "2026-03-29 02:00:00" does not exist in Europe\/Berlin.*\nEurope\/Berlin had times such as "2026-10-25 02:30:00" twice.*\n$/,
  );
});

test.concurrent('options that do not fit the format are wrong usage, all reported at once', async () => {
  const place = await placeWithProject();
  const stderr = await refusal(
    place.run([...['import', sampleFile, '--project', project, '--map', 'message_id', '--event', 'a']]),
    2,
  );
  expect(stderr).toContain('--map: "message_id" is not id=NAME');
  expect(stderr).toContain('--event: is for --format stream');
});
