import { describe, expect, test } from 'vitest';
import { UsageError } from '../../../src/cli/io.js';
import { type FormOptions, readForm } from '../../../src/cli/options/import-form.js';
import { outcomesOf } from '../../support/import-records.js';

describe('options are refused:', () => {
  test.each<[string, FormOptions, RegExp]>([
    ['a map of no field', { map: ['message_id'] }, /--map: "message_id" is not id=NAME/],
    ['a map of an unknown field', { map: ['user=name'] }, /--map: "user=name" is not id=NAME/],
    ['a map to nothing', { map: ['id='] }, /--map: "id=" is not id=NAME/],
    ['a field twice', { map: ['id=a', 'id=b'] }, /--map: id is given twice/],
    ['a caller that is none', { caller: 'Docs Site' }, /--caller: "Docs Site" is not web, api/],
    [
      'a value without a name',
      { callerValue: ['Docs Site'] },
      /--caller-value: "Docs Site" is not VALUE=NAME/,
    ],
    ['a value with a name that is none', { callerValue: ['A=Docs Site'] }, /"Docs Site" is not web/],
    ['a value twice', { callerValue: ['A=web', 'A=api'] }, /--caller-value: "A" is given twice/],
    ['events of what has none', { format: 'csv', event: ['a'] }, /--event: is for --format stream/],
    ['a stream without a caller', { format: 'stream' }, /--caller: is missing; .* properties\.source/],
    ['all at once', { caller: 'A', map: ['x'] }, /^--map: .*\n--caller: /],
  ])('%s', async (_what, options, message) => {
    const reading = readForm(options);
    await expect(reading).rejects.toThrow(UsageError);
    await expect(reading).rejects.toThrow(message);
  });
});

const at = '2026-01-31T12:00:00Z';
const noon = '2026-01-31T12:00:00.000Z';

describe('a record of NDJSON is', () => {
  const mapped: FormOptions = { map: ['id=payload.message.id', 'caller=source', 'occurredAt=at'] };
  const record = (more: object) =>
    JSON.stringify({ payload: { message: { id: 'a' } }, source: 'web', at, ...more });
  test.each<[string, string, FormOptions, unknown]>([
    ['refused without its id', record({ payload: {} }), mapped, 'id: there is no "payload.message.id" in it'],
    ['refused with an empty id', record({ payload: { message: { id: '' } } }), mapped, /^id: there is no/],
    [
      'refused without a time, which would be now',
      record({ at: null }),
      mapped,
      'occurredAt: there is no "at" in it',
    ],
    ['refused without a caller', record({ source: null }), mapped, 'caller: there is no "source" in it'],
    [
      'refused with a number that is not exact',
      '{"id":9007199254740993,"caller":"web","occurredAt":"x"}',
      { map: ['caller=caller'] },
      /^occurredAt/,
    ],
    [
      'refused as an id that is not exact',
      `{"id":9007199254740993,"caller":"web","occurredAt":"${at}"}`,
      { map: ['caller=caller'] },
      'id: is not a string',
    ],
    ['refused where it is no object', '[1]', mapped, 'is not an object'],
    [
      'refused with a caller that is no name',
      record({ source: 'Docs Site' }),
      mapped,
      /^caller: "Docs Site" is not a caller's name .* --caller-value "Docs Site=web"/,
    ],
    [
      'refused with an unknown field where nothing is mapped',
      `{"id":"a","at":"${at}"}`,
      { caller: 'web' },
      /"at": is not a field here/,
    ],
    [
      'a query, with fields that nobody asked for',
      record({ question: 'How?', user: { ip: '192.0.2.1' } }),
      mapped,
      ['a', 'web', noon],
    ],
    [
      'a query with a number for its id',
      record({ payload: { message: { id: 42 } } }),
      mapped,
      ['42', 'web', noon],
    ],
    [
      'a query whose fields have dots in their names',
      `{"a.b":"x","a":{"b":"y"},"caller":"web","occurredAt":"${at}"}`,
      { map: ['id=a.b'] },
      ['x', 'web', noon],
    ],
    [
      'no query by what every object inherits',
      record({}),
      { map: ['id=payload.toString', 'caller=source', 'occurredAt=at'] },
      /^id: there is no/,
    ],
    [
      'a query of the caller that is given',
      record({ source: '' }),
      { ...mapped, caller: 'slack' },
      ['a', 'slack', noon],
    ],
    [
      'a query of its own caller all the same',
      record({ source: 'api' }),
      { ...mapped, caller: 'slack' },
      ['a', 'api', noon],
    ],
    [
      'a query of the caller that a value stands for',
      record({ source: 'Docs=Site' }),
      { ...mapped, callerValue: ['Docs=Site=web'] },
      ['a', 'web', noon],
    ],
    [
      'a query at a time in seconds',
      record({ at: 1769860800 }),
      { ...mapped, timeFormat: 's' },
      ['a', 'web', noon],
    ],
    ['refused at a number of no unit', record({ at: 1769860800 }), mapped, /--time-format/],
    [
      'a plain query of the caller that is given',
      `{"id":"a","occurredAt":"${at}"}`,
      { caller: 'web' },
      ['a', 'web', noon],
    ],
    [
      'a plain query at a time in milliseconds',
      '{"id":"a","caller":"web","occurredAt":1769860800000}',
      { timeFormat: 'ms' },
      ['a', 'web', noon],
    ],
    [
      'a plain query without a time, which is now',
      '{"id":"a"}',
      { caller: 'web', timeFormat: 'ms' },
      ['a', 'web', '2030-01-01T00:00:00.000Z'],
    ],
  ])('%s', async (_what, line, options, outcome) => {
    const [[, found] = []] = await outcomesOf(line, options);
    expect(found).toEqual(outcome instanceof RegExp ? expect.stringMatching(outcome) : outcome);
  });
});

describe('a file of CSV is', () => {
  const options: FormOptions = { format: 'csv', map: ['id=message_id', 'occurredAt=sent at'] };
  test.each<[string, string, FormOptions, unknown[]]>([
    [
      'refused without a mapped column',
      'message_id,caller\na,web',
      options,
      [[1, expect.stringMatching(/^sent at: there is no such column/)]],
    ],
    [
      'refused without a time, which would be now',
      'message_id,caller\na,web',
      { ...options, map: ['id=message_id'] },
      [[1, expect.stringMatching(/^occurredAt: there is no such column/)]],
    ],
    [
      'refused with a mapped column twice',
      'message_id,caller,sent at,caller\na,web,b,c',
      options,
      [[1, 'caller: there are two such columns']],
    ],
    [
      'refused without a caller',
      'message_id,sent at\na,b',
      options,
      [[1, expect.stringMatching(/^caller: there is no such column/)]],
    ],
    [
      'read with columns that nobody asked for, even twice',
      `x,sent at,x,caller,message_id\n1,${at},2,web,a\n1,,2,web,b\n1,${at},2,,c`,
      options,
      [
        [2, ['a', 'web', noon]],
        [3, 'occurredAt: there is no "sent at" in it'],
        [4, 'caller: there is no "caller" in it'],
      ],
    ],
    [
      'read with the caller that is given',
      `message_id,sent at\na,${at}`,
      { ...options, caller: 'slack' },
      [[2, ['a', 'slack', noon]]],
    ],
    [
      'read with seconds',
      'id,caller,occurredAt\na,,1769860800\nb,api,1769860800.5',
      { format: 'csv', caller: 'web', timeFormat: 's' },
      [
        [2, ['a', 'web', noon]],
        [3, ['b', 'api', '2026-01-31T12:00:00.500Z']],
      ],
    ],
    [
      'read with a dot that is a dot',
      `message.id,occurredAt\na,${at}`,
      { format: 'csv', map: ['id=message.id'], caller: 'web' },
      [[2, ['a', 'web', noon]]],
    ],
  ])('%s', async (_what, text, form, outcomes) => {
    expect(await outcomesOf(text, form)).toEqual(outcomes);
  });
});
