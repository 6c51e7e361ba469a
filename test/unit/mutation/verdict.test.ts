/** The list of explained survivors is held to what really survives. */
import { describe, expect, test } from 'vitest';
import { type Explained, type Report, verdictOf } from '../../mutation/verdict.js';

const source = 'export function more(a: number) {\n  return a +\n    1;\n}\n';
const plus = {
  mutatorName: 'ArithmeticOperator',
  replacement: 'a -\n    1',
  location: { start: { line: 2, column: 10 }, end: { line: 3, column: 6 } },
};
const block = {
  mutatorName: 'BlockStatement',
  replacement: '{}',
  location: { start: { line: 1, column: 33 }, end: { line: 4, column: 2 } },
};
const reportOf = (...mutants: { status: string; of: typeof plus }[]): Report => ({
  files: { 'src/a.ts': { source, mutants: mutants.map(({ status, of }) => ({ ...of, status })) } },
});
const explained: Explained = {
  file: 'src/a.ts',
  mutator: 'ArithmeticOperator',
  line: 'return a +',
  original: 'a + 1',
  replacement: 'a - 1',
  why: 'a is always 0, and its sign is dropped.',
};

describe('a survivor', () => {
  test.each(['Survived', 'NoCoverage'])('that %s and is not in the list is told', (status) => {
    const { unexplained, ...rest } = verdictOf(
      reportOf({ status, of: plus }, { status: 'Killed', of: block }),
      [],
    );
    const { why: _, ...survivor } = explained;
    expect(unexplained).toEqual([survivor]);
    expect(rest).toEqual({ mutants: 2, killed: 1, explained: 0, outdated: [], share: 0.5 });
  });

  test.each<[string, Partial<Explained>]>([
    ['another file', { file: 'src/b.ts' }],
    ['another kind', { mutator: 'StringLiteral' }],
    ['another line', { line: 'return a;' }],
    ['another text', { original: 'a' }],
    ['another replacement', { replacement: 'a * 1' }],
  ])('is not explained by an entry of %s', (_what, more) => {
    const verdict = verdictOf(reportOf({ status: 'Survived', of: plus }), [{ ...explained, ...more }]);
    expect(verdict).toMatchObject({ explained: 0, unexplained: [{ file: 'src/a.ts' }], share: 0 });
  });

  test('that is in the list counts for neither side', () => {
    const report = reportOf({ status: 'Survived', of: plus }, { status: 'Timeout', of: block });
    expect(verdictOf(report, [explained])).toEqual({
      mutants: 2,
      killed: 1,
      explained: 1,
      unexplained: [],
      outdated: [],
      share: 1,
    });
  });
});

describe('an entry of the list', () => {
  test('whose mutant is killed, or not there, is outdated', () => {
    expect(verdictOf(reportOf({ status: 'Killed', of: plus }), [explained]).outdated).toEqual([explained]);
    expect(verdictOf(reportOf(), [explained]).outdated).toEqual([explained]);
  });

  test('for a file that was not mutated is left alone', () => {
    expect(verdictOf({ files: {} }, [explained])).toMatchObject({ outdated: [], share: 1 });
  });
});

test('what was left out, or does not load, is no mutant', () => {
  const report = reportOf({ status: 'Ignored', of: plus }, { status: 'RuntimeError', of: block });
  expect(verdictOf(report, [])).toMatchObject({ mutants: 0, killed: 0, unexplained: [], share: 1 });
});
