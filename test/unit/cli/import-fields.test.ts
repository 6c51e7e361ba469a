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
    ['a caller that is none', { caller: 'Docs Site' }, /--caller: "Docs Site" is not "web", "api"/],
    [
      'a value without a name',
      { callerValue: ['Docs Site'] },
      /--caller-value: "Docs Site" is not VALUE=NAME/,
    ],
    ['a value with a name that is none', { callerValue: ['A=Docs Site'] }, /"Docs Site" is not "web"/],
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
  const withCaller = { map: ['caller=caller'] };
  const slack = { ...mapped, caller: 'slack' };
  const query = ['a', 'web', noon];
  const record = (more: object) =>
    JSON.stringify({ payload: { message: { id: 'a' } }, source: 'web', at, ...more });
  const plain = (id: string, occurredAt: string) => `{"id":${id},"caller":"web","occurredAt":${occurredAt}}`;
  const exact = '9007199254740993';
  const dotted = `{"a.b":"x","a":{"b":"y"},"caller":"web","occurredAt":"${at}"}`;
  const inherited = { map: ['id=payload.toString', 'caller=source', 'occurredAt=at'] };
  const noName = /^caller: "Docs Site" is not a caller's name .* --caller-value "Docs Site=web"/;
  test.each<[string, string, FormOptions, unknown]>([
    ['refused without id', record({ payload: {} }), mapped, 'id: there is no "payload.message.id" in it'],
    ['refused with an empty id', record({ payload: { message: { id: '' } } }), mapped, /^id: there is no/],
    ['refused without a time', record({ at: null }), mapped, 'occurredAt: there is no "at" in it'],
    ['refused without a caller', record({ source: null }), mapped, 'caller: there is no "source" in it'],
    ['refused with an inexact number', plain(exact, '"x"'), withCaller, /^occurredAt/],
    ['refused with an inexact id', plain(exact, `"${at}"`), withCaller, 'id: is not a string'],
    ['refused where it is no object', '[1]', mapped, 'is not an object'],
    ['refused with a caller that is no name', record({ source: 'Docs Site' }), mapped, noName],
    [
      'refused with an unknown field',
      `{"id":"a","at":"${at}"}`,
      { caller: 'web' },
      /"at": is not a field here/,
    ],
    ['refused with an inherited property as id', record({}), inherited, /^id: there is no/],
    ['refused with a number without a unit as time', record({ at: 1769860800 }), mapped, /--time-format/],
    ['a query with unmapped fields', record({ question: 'How?', user: { ip: '192.0.2.1' } }), mapped, query],
    [
      'a query with a number as id',
      record({ payload: { message: { id: 42 } } }),
      mapped,
      ['42', 'web', noon],
    ],
    ['a query with dots in field names', dotted, { map: ['id=a.b'] }, ['x', 'web', noon]],
    ['a query of the given caller', record({ source: '' }), slack, ['a', 'slack', noon]],
    ['a query of its own caller', record({ source: 'api' }), slack, ['a', 'api', noon]],
    [
      'a query of the caller that a value stands for',
      record({ source: 'Docs=Site' }),
      { ...mapped, callerValue: ['Docs=Site=web'] },
      query,
    ],
    ['a query at a time in seconds', record({ at: 1769860800 }), { ...mapped, timeFormat: 's' }, query],
    ['a plain query of the given caller', `{"id":"a","occurredAt":"${at}"}`, { caller: 'web' }, query],
    ['a plain query at milliseconds', plain('"a"', '1769860800000'), { timeFormat: 'ms' }, query],
    [
      'a plain query without a time, recorded at the current one',
      '{"id":"a"}',
      { caller: 'web', timeFormat: 'ms' },
      ['a', 'web', '2030-01-01T00:00:00.000Z'],
    ],
  ])('%s', async (_what, line, options, outcome) => {
    const [[, found] = []] = await outcomesOf(line, options);
    expect(found).toEqual(outcome instanceof RegExp ? expect.stringMatching(outcome) : outcome);
  });
});

describe('a file of CSV is refused', () => {
  const options: FormOptions = { format: 'csv', map: ['id=message_id', 'occurredAt=sent at'] };
  test.each<[string, string, FormOptions, RegExp]>([
    ['without a mapped column', 'message_id,caller\na,web', options, /^sent at: there is no such column/],
    [
      'without a time',
      'message_id,caller\na,web',
      { ...options, map: ['id=message_id'] },
      /^occurredAt: there is no such column/,
    ],
    [
      'with a mapped column twice',
      'message_id,caller,sent at,caller\na,web,b,c',
      options,
      /^caller: there are two such columns$/,
    ],
    ['without a caller', 'message_id,sent at\na,b', options, /^caller: there is no such column/],
  ])('%s', async (_what, text, form, problem) => {
    expect(await outcomesOf(text, form)).toEqual([[1, expect.stringMatching(problem)]]);
  });
});

describe('a file of CSV is read', () => {
  const options: FormOptions = { format: 'csv', map: ['id=message_id', 'occurredAt=sent at'] };
  test.each<[string, string, FormOptions, unknown[]]>([
    [
      'with unmapped columns, even two of a name',
      `x,sent at,x,caller,message_id\n1,${at},2,web,a\n1,,2,web,b\n1,${at},2,,c`,
      options,
      [
        [2, ['a', 'web', noon]],
        [3, 'occurredAt: there is no "sent at" in it'],
        [4, 'caller: there is no "caller" in it'],
      ],
    ],
    [
      'with the given caller',
      `message_id,sent at\na,${at}`,
      { ...options, caller: 'slack' },
      [[2, ['a', 'slack', noon]]],
    ],
    [
      'with times in seconds',
      'id,caller,occurredAt\na,,1769860800\nb,api,1769860800.5',
      { format: 'csv', caller: 'web', timeFormat: 's' },
      [
        [2, ['a', 'web', noon]],
        [3, ['b', 'api', '2026-01-31T12:00:00.500Z']],
      ],
    ],
    [
      'with a dot in the name of a column',
      `message.id,occurredAt\na,${at}`,
      { format: 'csv', map: ['id=message.id'], caller: 'web' },
      [[2, ['a', 'web', noon]]],
    ],
  ])('%s', async (_what, text, form, outcomes) => {
    expect(await outcomesOf(text, form)).toEqual(outcomes);
  });
});
