/** The sample, as other systems would have exported it: whatever the form, the same queries. */
import { writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { type Place, placeWithProject, project, succeed } from '../support/cli-place.js';
import { expected, sampleFile, sampleLines } from '../support/sample.js';

interface Event {
  readonly id: string;
  readonly caller: string;
  readonly occurredAt: string;
}

const events = sampleLines().map((line) => JSON.parse(line) as Event);

/** Imports, and finds the whole sample there again; gives what the import printed. */
async function importAs(text: string, args: readonly string[]): Promise<string> {
  const place = await placeWithProject();
  await writeFile(place.path('export'), text);
  const { stdout } = await succeed(place.run(['import', 'export', '--project', project, ...args]));
  await expectSample(place);
  return stdout;
}

async function expectSample(place: Place): Promise<void> {
  const again = await succeed(place.run(['import', sampleFile, '--project', project]));
  expect(again.stdout).toBe('30,874 read, 0 recorded, 30,874 duplicates\n');
  const { stdout } = await succeed(place.run(['stats', project, '--json']));
  expect(JSON.parse(stdout)).toEqual(expected.ranges[0]?.counts);
}

test.concurrent('a stream, in which every other event is none of ours', async () => {
  const lines = events.flatMap(({ id, caller, occurredAt }, at) => {
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
  const text = lines.map((line) => JSON.stringify(line)).join('\n');
  const args = ['--format', 'stream', '--caller', 'properties.source'];
  expect(await importAs(text, args)).toBe('61,748 read, 30,269 recorded, 605 duplicates, 30,874 skipped\n');
});

test.concurrent('a table of a database, with names, times and callers of its own', async () => {
  const rows = events.map(({ id, caller, occurredAt }) => {
    const time = new Date(occurredAt).toISOString().slice(0, 19).replace('T', ' ');
    return `${time},"What, ""exactly""?",${id},${caller === 'web' ? 'Docs Site' : caller}`;
  });
  const text = ['sent_at,question,message_id,origin', ...rows].join('\n');
  const map = ['--map', 'id=message_id', '--map', 'caller=origin', '--map', 'occurredAt=sent_at'];
  const args = ['--format', 'csv', ...map, '--time-format', 'utc', '--caller-value', 'Docs Site=web'];
  expect(await importAs(text, args)).toBe('30,874 read, 30,269 recorded, 605 duplicates\n');
});

test.concurrent('objects with objects in them, and seconds', async () => {
  const lines = events.map(({ id, caller, occurredAt }) =>
    JSON.stringify({
      message: { id, at: Date.parse(occurredAt) / 1000 },
      ...(caller === 'web' ? {} : { caller }),
    }),
  );
  const map = ['--map', 'id=message.id', '--map', 'occurredAt=message.at'];
  const args = [...map, '--time-format', 's', '--caller', 'web'];
  expect(await importAs(lines.join('\n'), args)).toBe('30,874 read, 30,269 recorded, 605 duplicates\n');
});

test.concurrent('options that do not go together are wrong usage, named at once', async () => {
  const place = await placeWithProject();
  const { status, stdout, stderr } = await place.run([
    ...['import', sampleFile, '--project', project, '--map', 'message_id', '--event', 'a'],
  ]);
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toContain('--map: "message_id" is not id=NAME');
  expect(stderr).toContain('--event: is for --format stream');
});
