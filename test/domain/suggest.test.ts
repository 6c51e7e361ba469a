import { expect, test } from 'vitest';
import { unknownNamesMax } from '../../src/domain/limits.js';
import {
  listKnown,
  suggestNearMiss,
  unknownNameMessage,
  unknownNameMessages,
} from '../../src/domain/suggest.js';

test.each([
  ['datefrom', 'did you mean dateFrom?'],
  ['date_from', 'did you mean dateFrom?'],
  ['DATETO', 'did you mean dateTo?'],
  ['limit', 'there are dateFrom, dateTo'],
  ['from', 'did you mean dateFrom?'],
  ['to', 'did you mean dateTo?'],
  ['m', 'there are dateFrom, dateTo'],
  ['dateFromNow', 'did you mean dateFrom?'],
  ['dateFromUntil', 'there are dateFrom, dateTo'],
])('the message about the unknown parameter %s contains: %s', (name, hint) => {
  expect(unknownNameMessage('parameter', name, ['dateFrom', 'dateTo'])).toBe(
    `"${name}": is not a parameter here; ${hint}`,
  );
});

test('of many unknown names, the first are named and the others are counted', () => {
  const names = ['dateTo', ...Array.from({ length: unknownNamesMax + 3 }, (_, at) => `x${at}`)];
  const messages = unknownNameMessages('parameter', names, ['dateFrom', 'dateTo']);
  expect(messages).toHaveLength(unknownNamesMax + 1);
  expect(messages.at(-1)).toBe('and 3 more unknown parameters');
  expect(unknownNameMessages('parameter', names.slice(0, 3), ['dateTo'])).toEqual([
    '"x0": is not a parameter here; there is dateTo',
    '"x1": is not a parameter here; there is dateTo',
  ]);
});

test('the message about an unknown parameter says if there are no parameters', () => {
  expect(unknownNameMessage('parameter', 'x', [])).toBe('"x": is not a parameter here; there is none');
});

test('the message about an unknown name shows the only known one, or suggests it if it is similar', () => {
  expect(unknownNameMessage('column', 'other', ['id'])).toBe('"other": is not a column here; there is id');
  // Two characters may differ, even in a short name.
  expect(unknownNameMessage('field', 'xy', ['id'])).toBe('"xy": is not a field here; did you mean id?');
  expect(unknownNameMessage('field', 'xyz', ['id'])).toBe('"xyz": is not a field here; there is id');
  // Very long names are not compared.
  const long = 'x'.repeat(64);
  expect(unknownNameMessage('field', long, [`x${long}`])).toMatch(/did you mean/);
  expect(unknownNameMessage('field', `x${long}`, [`xx${long}`])).toMatch(/there is/);
});

test.each([
  ['Caller', 'caller'],
  ['callr', 'caller'],
  ['callers', 'caller'],
  ['cler', undefined],
  ['question', undefined],
  ['caller', undefined],
])('the near miss of %j is %j', (name, known) => {
  expect(suggestNearMiss(name, ['id', 'caller'])).toBe(known);
});

test('near misses are found in names of up to 64 characters', () => {
  const long = 'x'.repeat(64);
  expect(suggestNearMiss(long, [`x${long}`])).toBe(`x${long}`);
  expect(suggestNearMiss(`x${long}`, [`xx${long}`])).toBeUndefined();
});

test.each([
  ['last_month', 'did you mean last-month? The'],
  ['months', 'did you mean this-month or last-month or last-12-months? The'],
  ['PastMonth', 'the'],
  ['month-before', 'did you mean this-month or last-month or last-12-months? The'],
  ['30d', 'did you mean last-30-days? The'],
  ['30days', 'did you mean last-30-days? The'],
  ['12 months', 'did you mean last-12-months? The'],
  ['last', 'the'],
  ['fortnight', 'the'],
  [`month${' '.repeat(60)}`, 'the'],
])('the message about the unknown period %j says: %s', (name, hint) => {
  const known = ['today', 'last-7-days', 'last-30-days', 'this-month', 'last-month', 'last-12-months', 'all'];
  expect(listKnown('period', name, known)).toBe(`${hint} periods are ${known.join(', ')}`);
});
