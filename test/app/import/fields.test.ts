import { describe, expect, test } from 'vitest';
import { UsageError } from '../../../src/cli/io.js';
import { type FormOptions, readForm } from '../../../src/cli/options/import-form.js';
import { readRecords } from '../../support/cli/import-records.js';

describe('the import of fields refuses', () => {
  test.each<[string, FormOptions, RegExp]>([
    ['a map without =', { map: ['message_id'] }, /--map: "message_id" is not id=NAME/],
    ['a map of an unknown field', { map: ['user=name'] }, /--map: "user=name" is not id=NAME/],
    ['a map to nothing', { map: ['id='] }, /--map: "id=" is not id=NAME/],
    ['a field that is mapped twice', { map: ['id=a', 'id=b'] }, /--map: id is given twice/],
    ['an invalid caller', { caller: 'Docs Site' }, /--caller: "Docs Site" is not "web", "api"/],
    [
      'a value without a name',
      { callerValue: ['Docs Site'] },
      /--caller-value: "Docs Site" is not VALUE=NAME/,
    ],
    ['a value with an invalid name', { callerValue: ['A=Docs Site'] }, /"Docs Site" is not "web"/],
    [
      'a value that is given twice',
      { callerValue: ['A=web', 'A=api'] },
      /--caller-value: "A" is given twice/,
    ],
    ['event types for CSV', { format: 'csv', event: ['a'] }, /--event: is for --format stream/],
    ['a stream without a caller', { format: 'stream' }, /--caller: is missing; .* properties\.source/],
    [
      'several invalid options, with a message for each',
      { caller: 'A', map: ['x'] },
      /^--map: .*\n--caller: /,
    ],
  ])('%s', async (_what, options, message) => {
    const reading = readForm(options);
    await expect(reading).rejects.toThrow(UsageError);
    await expect(reading).rejects.toThrow(message);
  });
});

const at = '2026-01-31T12:00:00Z';
const noon = '2026-01-31T12:00:00.000Z';

describe('an NDJSON record is', () => {
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
    ['refused if it is not an object', '[1]', mapped, 'is not an object'],
    ['refused with an invalid caller', record({ source: 'Docs Site' }), mapped, noName],
    [
      'refused with an unknown field',
      `{"id":"a","at":"${at}"}`,
      { caller: 'web' },
      /"at": is not a field here/,
    ],
    ['refused if its id is an inherited property', record({}), inherited, /^id: there is no/],
    ['refused with a number as time and no time format', record({ at: 1769860800 }), mapped, /--time-format/],
    ['read with unmapped fields', record({ question: 'How?', user: { ip: '192.0.2.1' } }), mapped, query],
    ['read with a number as id', record({ payload: { message: { id: 42 } } }), mapped, ['42', 'web', noon]],
    ['read with dots in field names', dotted, { map: ['id=a.b'] }, ['x', 'web', noon]],
    ['read with the caller of the options', record({ source: '' }), slack, ['a', 'slack', noon]],
    ['read with its own caller', record({ source: 'api' }), slack, ['a', 'api', noon]],
    [
      'read with the caller that its value maps to',
      record({ source: 'Docs=Site' }),
      { ...mapped, callerValue: ['Docs=Site=web'] },
      query,
    ],
    ['read with a time in seconds', record({ at: 1769860800 }), { ...mapped, timeFormat: 's' }, query],
    [
      'read without a map, with the caller of the options',
      `{"id":"a","occurredAt":"${at}"}`,
      { caller: 'web' },
      query,
    ],
    [
      'read without a map, with a time in milliseconds',
      plain('"a"', '1769860800000'),
      { timeFormat: 'ms' },
      query,
    ],
    [
      'read without a map or time, at the current time',
      '{"id":"a"}',
      { caller: 'web', timeFormat: 'ms' },
      ['a', 'web', '2030-01-01T00:00:00.000Z'],
    ],
  ])('%s', async (_what, line, options, outcome) => {
    const [[, found] = []] = await readRecords(line, options);
    expect(found).toEqual(outcome instanceof RegExp ? expect.stringMatching(outcome) : outcome);
  });
});

describe('a CSV file is refused', () => {
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
    expect(await readRecords(text, form)).toEqual([[1, expect.stringMatching(problem)]]);
  });
});

describe('a CSV file is read', () => {
  const options: FormOptions = { format: 'csv', map: ['id=message_id', 'occurredAt=sent at'] };
  test.each<[string, string, FormOptions, unknown[]]>([
    [
      'with unmapped columns, even two of the same name',
      `x,sent at,x,caller,message_id\n1,${at},2,web,a\n1,,2,web,b\n1,${at},2,,c`,
      options,
      [
        [2, ['a', 'web', noon]],
        [3, 'occurredAt: there is no "sent at" in it'],
        [4, 'caller: there is no "caller" in it'],
      ],
    ],
    [
      'with the caller of the options',
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
      'with a dot in a column name',
      `message.id,occurredAt\na,${at}`,
      { format: 'csv', map: ['id=message.id'], caller: 'web' },
      [[2, ['a', 'web', noon]]],
    ],
  ])('%s', async (_what, text, form, outcomes) => {
    expect(await readRecords(text, form)).toEqual(outcomes);
  });
});
