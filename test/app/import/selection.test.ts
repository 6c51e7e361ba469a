/** Selecting records with `--where`, making ids with `--id-from line`, and the exports of other systems. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { UsageError } from '../../../src/cli/io.js';
import { type FormOptions, readForm } from '../../../src/cli/options/import-form.js';
import { type Outcome, readRecords } from '../../support/cli/import-records.js';

const folder = mkdtempSync(join(tmpdir(), 'caller-stats-key-'));
afterAll(() => rmSync(folder, { recursive: true }));
const [key, otherKey] = ['first', 'second'].map((name) => {
  const file = join(folder, name);
  writeFileSync(file, name.repeat(8));
  return file;
}) as [string, string];

describe('import options are refused', () => {
  const lines: FormOptions = { idFrom: 'line', caller: 'web' };
  test.each<[string, FormOptions, RegExp]>([
    ['if --where has no value', { where: ['event'] }, /^--where: "event" is not FIELD=VALUE/],
    ['if --where has no field', { where: ['=a'] }, /^--where: "=a" is not FIELD=VALUE/],
    ['with two sources of ids', { ...lines, map: ['id=a'] }, /^--id-from: conflicts with --map id=/],
    [
      'with an id key and ids of the file',
      { idKey: key },
      /^--id-key: is for --format access-log and --id-from line/,
    ],
    ['with a field of records and CSV', { format: 'csv', records: 'a' }, /^--records: is for JSON/],
    [
      'with fields and an access log',
      { format: 'access-log', path: '^/', caller: 'web', where: ['a=b'], records: 'a', idFrom: 'line' },
      /^--where: does not apply.*\n--id-from: does not apply.*\n--records: does not apply/,
    ],
    [
      'with an export and no event',
      { format: 'umami', caller: 'web' },
      /^--event: is missing; name the event/,
    ],
    [
      'with an export and no caller',
      { format: 'umami', event: ['ask'] },
      /^--caller: is missing; .* --map caller=FIELD/,
    ],
    [
      'with conversations and an event',
      { format: 'conversations', caller: 'web', event: ['a'] },
      /^--event: is for --format stream, plausible, goatcounter, umami/,
    ],
  ])('%s', async (_what, options, message) => {
    const reading = readForm(options);
    await expect(reading).rejects.toThrow(UsageError);
    await expect(reading).rejects.toThrow(message);
  });
});

const at = '2026-01-31T12:00:00Z';
const noon = '2026-01-31T12:00:00.000Z';
const record = (id: string, more: object = {}) =>
  JSON.stringify({ id, caller: 'web', occurredAt: at, ...more });
const ids = (outcomes: readonly [number, Outcome][]) =>
  outcomes.map(([, outcome]) => (typeof outcome === 'string' ? outcome : outcome[0]));

describe('--where', () => {
  test.each<[what: string, where: string[], more: object, isSelected: boolean]>([
    ['another value', ['event=ask'], { event: 'page' }, false],
    ['part of the value', ['event=ask'], { event: 'asked' }, false],
    ['a missing field', ['event=ask'], {}, false],
    ['an object', ['event=[object Object]'], { event: {} }, false],
    ['an array', ['event=ask'], { event: ['ask'] }, false],
    ['an inherited property', ['payload.constructor.name=Object'], { payload: {} }, false],
    ['one of two fields', ['event=ask', 'site=docs'], { event: 'ask', site: 'blog' }, false],
    ['the value', ['event=ask'], { event: 'ask' }, true],
    ['one of two values', ['event=ask', 'event=follow-up'], { event: 'follow-up' }, true],
    ['both fields', ['event=ask', 'site=docs'], { event: 'ask', site: 'docs' }, true],
    ['a nested field', ['payload.event=ask'], { payload: { event: 'ask' } }, true],
    ['a field with a dot in its name', ['payload.event=ask'], { 'payload.event': 'ask' }, true],
    ['a number', ['type=2'], { type: 2 }, true],
    ['a boolean', ['bot=false'], { bot: false }, true],
    ['a value with an equals sign', ['q=a=b'], { q: 'a=b' }, true],
    ['nothing, if the value is null', ['event='], { event: null }, true],
    ['nothing, if there is no such field', ['event='], {}, true],
  ])('finds %s', async (_what, where, more, isSelected) => {
    const found = await readRecords(record('a', more), { where });
    expect(found).toEqual([[1, isSelected ? ['a', 'web', noon] : 'skipped']]);
  });

  test('does not check records that it skips', async () => {
    const found = await readRecords('{"event":"page"}\n{"event":"ask"}', {
      where: ['event=ask'],
      caller: 'web',
    });
    expect(found).toEqual([
      [1, 'skipped'],
      [2, expect.stringMatching(/^id: there is no "id" in it; occurredAt: there is no/)],
    ]);
  });

  test('selects rows of CSV, whose columns must exist', async () => {
    const rows = `id;event;at\na;page;\nb;ask;${at}\n`;
    const form: FormOptions = { format: 'csv', caller: 'web', map: ['occurredAt=at'] };
    expect(await readRecords(rows, { ...form, where: ['event=ask'] })).toEqual([
      [2, 'skipped'],
      [3, ['b', 'web', noon]],
    ]);
    const [[, problem] = []] = await readRecords(rows, { ...form, where: ['events=ask'] });
    expect(problem).toBe('events: there is no such column; the first line names "id", "event", "at"');
  });

  test('selects events of a stream by fields of their payload', async () => {
    const event = (id: string, source: string) =>
      JSON.stringify({
        eventType: 'docs.assistant.completed',
        payload: { event_id: id, created_at: at, properties: { source } },
      });
    const found = await readRecords(`${event('a', 'docs')}\n${event('b', 'test')}`, {
      format: 'stream',
      caller: 'web',
      where: ['properties.source=docs'],
    });
    expect(ids(found)).toEqual(['a', 'skipped']);
  });
});

describe('--id-from line', () => {
  const form: FormOptions = { idFrom: 'line', caller: 'web' };
  const row = (text: string) => JSON.stringify({ occurredAt: at, text });

  test('needs the time of each record', async () => {
    const [[, problem] = []] = await readRecords('{"text":"a"}', form);
    expect(problem).toBe('occurredAt: there is no "occurredAt" in it');
  });

  test('makes the same ids for the same contents, in any layout, order of files and selection', async () => {
    const property = fc.asyncProperty(
      fc.array(fc.constantFrom('a', 'b', 'ü\n', '"'), { maxLength: 12 }),
      fc.nat({ max: 12 }),
      async (texts, cutAt) => {
        const whole = ids(await readRecords(texts.map(row).join('\n'), form));
        expect(new Set(whole).size).toBe(texts.length);
        const objects = texts.map((text) => JSON.parse(row(text)) as object);
        expect(ids(await readRecords(JSON.stringify(objects, null, 2), { ...form, format: 'json' }))).toEqual(
          whole,
        );
        const part = ids(await readRecords(texts.slice(0, cutAt).map(row).join('\r\n'), form));
        expect(part).toEqual(whole.slice(0, cutAt));
        const selected = ids(await readRecords(texts.map(row).join('\n'), { ...form, where: ['text=a'] }));
        expect(selected).toEqual(whole.map((id, index) => (texts[index] === 'a' ? id : 'skipped')));
        // Contents that occur n times have n ids, wherever they stand.
        const shuffled = ids(await readRecords(texts.toReversed().map(row).join('\n'), form));
        expect(shuffled.toSorted()).toEqual(whole.toSorted());
      },
    );
    await fc.assert(property, { numRuns: 100 });
  });

  test('makes the same ids of CSV, whatever separates and quotes it', async () => {
    const csv: FormOptions = { ...form, format: 'csv' };
    const all = await Promise.all(
      [
        `text,occurredAt\na,${at}\nb,${at}\na,${at}`,
        `text;occurredAt\r\n"a";${at}\r\nb;"${at}"\r\na;${at}\r\n`,
        `text\toccurredAt\na\t${at}\nb\t${at}\na\t${at}`,
      ].map(async (text) => ids(await readRecords(text, csv))),
    );
    expect(new Set(all[0]).size).toBe(3);
    expect(all).toEqual([all[0], all[0], all[0]]);
  });

  test('tells rows apart that differ only in a column whose name occurs twice', async () => {
    const idOf = async (value: string) =>
      ids(await readRecords(`x,x,occurredAt\n${value},a,${at}`, { ...form, format: 'csv' }));
    expect(await idOf('1')).not.toEqual(await idOf('2'));
  });

  test('makes other ids with another key', async () => {
    const made = await Promise.all(
      [{}, { idKey: key }, { idKey: key }, { idKey: otherKey }].map(
        async (more) => ids(await readRecords(row('a'), { ...form, ...more }))[0],
      ),
    );
    expect(made[1]).toBe(made[2]);
    expect(new Set(made).size).toBe(3);
  });

  // If this fails, importing a file again would count it twice.
  test('makes the ids that earlier versions made', async () => {
    expect(ids(await readRecords(`${row('a')}\n${row('a')}`, form))).toEqual([
      '78e86628-df7a-87e2-9781-c2d8d759b872',
      '6bd4efef-ac48-85bf-8f60-fdc2ffde0b12',
    ]);
  });
});

describe('the export of', () => {
  const sample = (name: string) => readFileSync(new URL(`../../samples/exports/${name}`, import.meta.url));
  const [may, june] = ['2026-05-30T08:00:05', '2026-06-02T17:21:40'];
  const uuid = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-8/);
  test.each<[string, string, FormOptions, unknown[]]>([
    [
      'GoatCounter',
      'goatcounter.csv',
      { format: 'goatcounter', event: ['assistant-question'] },
      [
        'skipped',
        [uuid, `${may}.000Z`],
        [uuid, `${may}.000Z`],
        [uuid, `${june}.000Z`],
        'skipped',
        'skipped',
        'skipped',
      ],
    ],
    [
      'Umami',
      'umami-website_event.csv',
      { format: 'umami', event: ['assistant-question'] },
      [
        'skipped',
        ['c0000000-0000-4000-8000-000000000002', `${may}.000Z`],
        ['c0000000-0000-4000-8000-000000000003', `${may}.000Z`],
        ['c0000000-0000-4000-8000-000000000004', `${june}.000Z`],
        'skipped',
        'skipped',
      ],
    ],
    [
      'Umami, with page views as questions',
      'umami-website_event.csv',
      { format: 'umami', where: ['event_type=1', 'url_path=/start'] },
      [
        ['c0000000-0000-4000-8000-000000000001', '2026-05-30T08:00:00.000Z'],
        'skipped',
        'skipped',
        'skipped',
        'skipped',
        'skipped',
      ],
    ],
    [
      'PostHog',
      'posthog.jsonl',
      { format: 'posthog', event: ['assistant_question'] },
      [
        'skipped',
        ['0197a000-0000-7000-8000-000000000002', `${may}.123Z`],
        ['0197a000-0000-7000-8000-000000000003', `${may}.123Z`],
        ['0197a000-0000-7000-8000-000000000004', `${june}.000Z`],
        'skipped',
      ],
    ],
    [
      'conversations',
      'conversations.json',
      { format: 'conversations' },
      [
        ['conv_0001', `${may}.000Z`],
        ['conv_0002', `${may}.000Z`],
        ['conv_0003', `${june}.500Z`],
      ],
    ],
  ])('%s has questions and other records', async (_what, name, options, expected) => {
    const found = await readRecords(sample(name), { caller: 'web', ...options });
    expect(
      found.map(([, outcome]) => (typeof outcome === 'string' ? outcome : [outcome[0], outcome[2]])),
    ).toEqual(expected);
    const questions = ids(found).filter((id) => id !== 'skipped');
    expect(new Set(questions).size).toBe(questions.length);
  });

  test('PostHog has callers in its properties', async () => {
    const options: FormOptions = {
      format: 'posthog',
      event: ['assistant_question'],
      map: ['caller=properties.source'],
      caller: 'web',
    };
    const found = await readRecords(sample('posthog.jsonl'), options);
    expect(found.map(([, outcome]) => (typeof outcome === 'string' ? outcome : outcome[1]))).toEqual([
      'skipped',
      'web',
      'web',
      'slack',
      'skipped',
    ]);
  });
});
