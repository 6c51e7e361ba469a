import { describe, expect, test } from 'vitest';
import { parseQuery } from '../../../src/domain/queries/query.js';
import { dayMs } from '../../../src/domain/time/duration.js';

const nowMs = Date.parse('2026-06-15T12:00:00Z');
const good = { id: 'a', caller: 'web' };

function findProblems(input: unknown): readonly string[] {
  const result = parseQuery(input, nowMs);
  return result.ok ? [] : result.problems;
}

describe('a query is refused', () => {
  test.each([
    [null, /is not a query/],
    ['x', /is not a query/],
    [[good], /is not a query/],
    [1, /is not a query/],
    [true, /is not a query/],
    [{ caller: 'web' }, /^id: is missing/],
    [{ ...good, id: 5 }, /^id: is not a string/],
    [{ ...good, id: null }, /^id: is not a string/],
    [{ ...good, id: '' }, /^id: is empty/],
    [{ ...good, id: 'x'.repeat(129) }, /^id: is longer than 128/],
    [{ ...good, id: '😀'.repeat(129) }, /^id: is longer than 128/],
    [{ ...good, id: 'a\0b' }, /^id: has a NUL/],
    [{ ...good, id: 'a\ud800' }, /^id: has a NUL character or half a surrogate/],
    [{ ...good, id: '\udc00a' }, /^id: has a NUL character or half a surrogate/],
    [{ id: 'a' }, /^caller: is missing/],
    [{ ...good, caller: null }, /^caller: is not a string/],
    [{ ...good, caller: '' }, /^caller: is not "web"/],
    [{ ...good, caller: 'Web' }, /^caller: is not "web"/],
    [{ ...good, caller: 'web\n' }, /^caller: is not "web"/],
    [{ ...good, caller: 'my sdk' }, /^caller: is not "web"/],
    [{ ...good, caller: 'ſdk' }, /^caller: is not "web"/],
    [{ ...good, caller: 'x'.repeat(65) }, /^caller: is not "web"/],
    [{ ...good, occurredAt: 5 }, /^occurredAt: is not a string/],
    [{ ...good, occurredAt: null }, /^occurredAt: is not a string/],
    [{ ...good, occurredAt: '2026-06-15' }, /^occurredAt: .* has no time/],
    [{ ...good, occurredAt: '2026-06-16T12:00:00.001Z' }, /^occurredAt: lies more than a day ahead/],
    [{ ...good, occurredAt: '0000-01-01T00:00:00+00:01' }, /^occurredAt: lies before the year 0000/],
    [
      { ...good, occuredAt: '2026-06-15T12:00:00Z' },
      /"occuredAt": is not a field here; did you mean occurredAt\?/,
    ],
    [{ ...good, occurred_at: 'x' }, /"occurred_at": is not a field here; did you mean occurredAt\?/],
    [{ ...good, Caller: 'web' }, /"Caller": is not a field here; did you mean caller\?/],
    [{ ...good, question: 'How?' }, /"question": is not a field here; there are id, caller, occurredAt/],
    [JSON.parse('{"id":"a","caller":"web","__proto__":1}'), /"__proto__": is not a field here/],
  ])('%j', (input, problem) => {
    expect(findProblems(input)).toEqual([expect.stringMatching(problem)]);
  });

  test('with all of its problems', () => {
    expect(findProblems({ id: '', caller: 'W', occurredAt: 'x', extra: 1 })).toHaveLength(4);
  });

  test('naming five unknown fields and the number of the others', () => {
    const withFields = (count: number) =>
      findProblems({
        ...good,
        ...Object.fromEntries(Array.from({ length: count }, (_, at) => [`x${at}`, at])),
      });
    const named = Array.from({ length: 5 }, (_, at) =>
      expect.stringMatching(new RegExp(`^"x${at}": is not a field`)),
    );
    expect(withFields(5)).toEqual(named);
    expect(withFields(7)).toEqual([...named, 'and 2 more unknown fields']);
  });
});

test.each<[input: Record<string, string>, occurredAt: number]>([
  [good, nowMs],
  [{ ...good, occurredAt: '2026-06-16T12:00:00Z' }, nowMs + dayMs],
  [{ ...good, occurredAt: '0000-01-01T00:00:00Z' }, Date.parse('0000-01-01')],
  [{ ...good, occurredAt: '1815-12-10T00:00:00Z' }, Date.parse('1815-12-10')],
  [{ id: '😀'.repeat(128), caller: 'x'.repeat(64) }, nowMs],
  [{ id: ' ', caller: '0._-' }, nowMs],
])('the query %j is read, with the time %d', (input, occurredAt) => {
  expect(parseQuery(input, nowMs)).toEqual({ ok: true, value: { ...input, occurredAt } });
});
