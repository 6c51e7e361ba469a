/** Why requests and records are refused. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  isRefusalReason,
  REFUSAL_REASONS,
  REFUSALS,
  reasonOfProblem,
} from '../../../src/domain/ingestion/refusals.js';
import { beforeRowsProblem } from '../../../src/domain/projects/retention.js';
import { parseQuery } from '../../../src/domain/queries/query.js';

const nowMs = Date.UTC(2026, 5, 15);

function reasonsOf(input: unknown): string[] {
  const query = parseQuery(input, nowMs);
  return query.ok ? [] : query.problems.map((problem) => reasonOfProblem(`queries[3]: ${problem}`));
}

describe('the reason for a problem', () => {
  const valid = { id: 'a', caller: 'web' };
  test.each<[unknown, string[]]>([
    [valid, []],
    [{ ...valid, caller: 'Slack' }, ['query-caller']],
    [{ id: 'a' }, ['query-caller']],
    [{ ...valid, id: 7 }, ['query-id']],
    [{ ...valid, id: '' }, ['query-id']],
    [{ ...valid, occurredAt: '2026-06-17T00:00:00Z' }, ['time-ahead']],
    [{ ...valid, occurredAt: '0000-01-01T00:00:00+01:00' }, ['time-past']],
    [{ ...valid, occurredAt: 1_700_000_000 }, ['query-time']],
    [{ ...valid, occurredAt: 'yesterday' }, ['query-time']],
    [{ ...valid, occuredAt: '2026-06-14T00:00:00Z' }, ['invalid']],
    ['a', ['no-body']],
    [{ id: '', caller: '' }, ['query-id', 'query-caller']],
  ])('of %j is %j', (input, reasons) => {
    expect(reasonsOf(input)).toEqual(reasons);
  });

  test.each(['is an array; put', 'has a second object', 'is not JSON: "{"', 'is longer than 9 bytes'])(
    'of a line that %s is the body',
    (problem) => {
      expect(reasonOfProblem(`queries[0]: ${problem}`)).toBe('no-body');
    },
  );

  test('that retention finds is the time', () => {
    expect(reasonOfProblem(beforeRowsProblem('2026-01-01T00:00:00.000Z'))).toBe('time-past');
  });
});

test('the documentation has each reason as the server says it', () => {
  const page = readFileSync(new URL('../../../docs/guides/record/not-arriving.md', import.meta.url), 'utf8');
  const rows = page.split('\n').filter((line) => /^\| `[a-z-]+` \|/.test(line));
  const expected = REFUSAL_REASONS.map((reason) => {
    const { because, remedy } = REFUSALS[reason];
    return `| \`${reason}\` | ${because} | ${remedy} |`;
  });
  expect(rows).toEqual(expected);
});

test('every reason has a name that can be stored, sentences, and a remedy', () => {
  for (const reason of REFUSAL_REASONS) {
    expect(reason).toMatch(/^[a-z]+(-[a-z]+)*$/);
    expect(`Refused because ${REFUSALS[reason].because}.`).not.toMatch(/\.\.$/);
    expect(REFUSALS[reason].remedy).toMatch(/\.$/);
  }
  expect(isRefusalReason('toString')).toBe(false);
});
