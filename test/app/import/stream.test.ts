import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readRecords } from '../../support/cli/import-records.js';

const at = '2026-01-31T12:00:00Z';
const noon = '2026-01-31T12:00:00.000Z';

/** An event of a platform's stream. */
function event(id: unknown, more: object = {}, eventType: unknown = 'docs.assistant.completed'): string {
  return JSON.stringify({
    eventType,
    payload: { event_id: id, created_at: at, event: 'assistant', properties: { source: 'docs' }, ...more },
  });
}

const asText = (line: string) => {
  const { payload, ...rest } = JSON.parse(line) as { payload: object };
  return JSON.stringify({ ...rest, payload: JSON.stringify(payload) });
};

const given = { format: 'stream', caller: 'web' } as const;
const fromProperty = { format: 'stream', map: ['caller=properties.source'] } as const;

describe('an event is refused', () => {
  test.each([
    ['that is not JSON', '{"eventType":', /^is not JSON/],
    ['that is not an object', '["docs.assistant.completed"]', /^is not an event/],
    ['without a type', '{"payload":{}}', /^is not an event: eventType is not a string/],
    ['without a payload', '{"eventType":"docs.assistant.completed"}', /^payload: is neither/],
    [
      'with a payload that is not an object',
      '{"eventType":"docs.assistant.completed","payload":[]}',
      /^payload: is neither/,
    ],
    [
      'with a payload that is not JSON',
      '{"eventType":"docs.assistant.completed","payload":"{"}',
      /^payload: is neither/,
    ],
    ['without an id', event(undefined), /^id: there is no "event_id" in it/],
    ['without a time', event('a', { created_at: null }), /^occurredAt: there is no "created_at" in it/],
    [
      'with an invalid time',
      event('a', { created_at: 'yesterday' }),
      /^occurredAt: "yesterday" is not a date-time/,
    ],
  ])('%s', async (_what, line, problem) => {
    expect(await readRecords(line, given)).toEqual([[1, expect.stringMatching(problem)]]);
  });

  test('if the property of the caller is missing or not a valid name', async () => {
    const lines = [event('a', { properties: {} }), event('b', { properties: { source: 'Docs Site' } })];
    expect(await readRecords(lines.join('\n'), fromProperty)).toEqual([
      [1, 'caller: there is no "properties.source" in it'],
      [2, expect.stringContaining('--caller-value "Docs Site=web"')],
    ]);
  });
});

describe('in a stream', () => {
  const lines = [
    event('a'),
    event('b', {}, 'docs.page.viewed'),
    asText(event('c')),
    event('d', {}, 'docs.search.completed'),
  ];

  test('events of the given types are queries, and the others are skipped', async () => {
    const text = lines.join('\n');
    expect(await readRecords(text, given)).toEqual([
      [1, ['a', 'web', noon]],
      [2, 'skipped'],
      [3, ['c', 'web', noon]],
      [4, 'skipped'],
    ]);
    const types = { ...given, event: ['docs.page.viewed', 'docs.search.completed'] };
    expect(await readRecords(text, types)).toEqual([
      [1, 'skipped'],
      [2, ['b', 'web', noon]],
      [3, 'skipped'],
      [4, ['d', 'web', noon]],
    ]);
  });

  test('the caller is read from a property, mapped to another name, or taken from the options', async () => {
    const text = [
      event('a'),
      event('b', { properties: { source: 'Slack App' } }),
      event('c', { properties: null }),
    ].join('\n');
    const options = { ...fromProperty, caller: 'elsewhere', callerValue: ['Slack App=slack', 'docs=web'] };
    expect(await readRecords(text, options)).toEqual([
      [1, ['a', 'web', noon]],
      [2, ['b', 'slack', noon]],
      [3, ['c', 'elsewhere', noon]],
    ]);
  });
});

test('a stream gives the same records in chunks of any size, and with payloads as objects or strings', async () => {
  const kinds = fc.constantFrom(
    () => 'no',
    () => '',
    (at: number) => event(`id-${at}`),
    (at: number) => event(`é-${at}`, { question: 'Wie?\n{}' }),
    (at: number) => event(`id-${at}`, {}, 'docs.page.viewed'),
  );
  const property = fc.asyncProperty(
    fc.array(kinds, { maxLength: 20 }),
    fc.integer({ min: 1, max: 400 }),
    async (made, chunkBytes) => {
      const lines = made.map((make, index) => make(index));
      const whole = await readRecords(lines.join('\n'), given, 100_000);
      expect(whole).toHaveLength(lines.filter((line) => line !== '').length);
      expect(await readRecords(lines.join('\n'), given, chunkBytes)).toEqual(whole);
      const texts = lines.map((line) => (line.startsWith('{') ? asText(line) : line));
      expect(await readRecords(texts.join('\n'), given, chunkBytes)).toEqual(whole);
    },
  );
  await fc.assert(property, { numRuns: 200 });
});
