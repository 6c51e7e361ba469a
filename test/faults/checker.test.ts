/** The checker of `test/faults`, with wrong histories and with right ones that look wrong. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ALL_TIME } from '../../src/domain/counting/date-range.js';
import { countsOf, type Form, queriesOf, sizeOf, stretchesFrom, stretchOf, sum } from './blocks.js';
import { Checker, problemsOf } from './checker.js';
import { Draw } from './draw.js';
import type { Entry } from './history.js';

const project = 'first';
const all = (...blocks: number[]) => sum(blocks.map((block) => countsOf(project, block, ALL_TIME)));
const sizes = (blocks: readonly number[]) => blocks.reduce((total, block) => total + sizeOf(block), 0);

const record = (op: number, ...blocks: number[]): Entry => ({ kind: 'record', op, project, blocks });
const recorded = (op: number, recorded: number, duplicates = 0): Entry => ({
  kind: 'recorded',
  op,
  result: { recorded, duplicates },
});
const acknowledged = (op: number, ...blocks: number[]): Entry[] => [
  record(op, ...blocks),
  recorded(op, sizes(blocks)),
];
const lost = (op: number, ...blocks: number[]): Entry[] => [record(op, ...blocks), { kind: 'unknown', op }];
const count = (op: number, range = ALL_TIME): Entry => ({ kind: 'count', op, project, range });
const counted = (op: number, counts: ReturnType<typeof all>): Entry => ({ kind: 'counted', op, counts });
const saw = (op: number, counts: ReturnType<typeof all>): Entry[] => [count(op), counted(op, counts)];
const refused = (op: number): Entry => ({ kind: 'refused', op });
const absent = (block: number): Entry => ({ kind: 'absent', project, block });
const verified = (queries: number, problems = 0): Entry => ({ kind: 'verified', queries, problems });
const correct = (form: Form, ...blocks: number[]): Entry => ({ kind: 'correct', project, blocks, form });
const corrected = (form: Form, ...blocks: number[]): Entry => ({ kind: 'corrected', project, blocks, form });
const withdrawn = (...blocks: number[]) => [
  ...acknowledged(1, 2, 4),
  correct('withdrawn', ...blocks),
  corrected('withdrawn', ...blocks),
];
const one = { web: 1, api: 0, other: 0, total: 1 };
const half = { web: 9, api: 5, other: 6, total: 20 };

describe('the checker reports that', () => {
  test.each<[string, readonly Entry[], RegExp]>([
    ['an acknowledged block is lost', [...acknowledged(1, 2, 3), ...saw(2, all(2))], /acknowledged/],
    ['a block is counted twice', [...acknowledged(1, 2), ...saw(2, all(2, 2))], /acknowledged/],
    ['half a block is counted', [...lost(1, 2), ...saw(2, half)], /may be/],
    ['a query is counted that was not sent', saw(1, all(1)), /1\+0\+0 counted|counted/],
    ['a counted block disappears', [...lost(1, 2), ...saw(2, all(2)), ...saw(3, all())], /acknowledged/],
    ['a refused block is counted', [record(1, 2), refused(1), ...saw(2, all(2))], /counted/],
    ['a new block is called a duplicate', [record(1, 2), recorded(1, 0, 40)], /said to be new/],
    ['a repeated block is called new', [...acknowledged(1, 2), ...acknowledged(2, 2)], /said to be new/],
    ['half a block is called new', [...lost(1, 2), record(2, 2), recorded(2, 20, 20)], /said to be new/],
    [
      'more queries are acknowledged than were sent',
      [record(1, 2), recorded(1, 40, 1)],
      /are not the 40 sent/,
    ],
    ['the total is not the sum', saw(1, { ...one, web: 0 }), /total/],
    ['a query is counted with the wrong type', [...acknowledged(1, 1), ...saw(2, one)], /counted/],
    [
      'adjacent ranges do not add up',
      [{ kind: 'tiled', whole: all(2), parts: [all(1), all(4)] }],
      /adjacent/,
    ],
    ['verify finds a problem', [verified(0, 1)], /verify found/],
    ['verify counts too few', [...acknowledged(1, 2), verified(39)], /40 to 40/],
    ['verify counts too many', [...lost(1, 2), verified(41)], /0 to 40/],
    ['a block is counted after it was absent', [...lost(1, 2), absent(2), ...saw(2, all(2))], /counted/],
    ['a withdrawn block is counted', [...withdrawn(2), ...saw(2, all(2, 4))], /acknowledged/],
    ['half a block is withdrawn', [...withdrawn(2), ...saw(2, sum([all(4), half]))], /acknowledged/],
    ['more is withdrawn than was asked for', [...withdrawn(2), ...saw(2, all())], /acknowledged/],
    [
      'a withdrawn block is recorded again',
      [...withdrawn(2), record(2, 2), recorded(2, 40)],
      /said to be new/,
    ],
    ['verify counts a withdrawn block', [...withdrawn(2), verified(43)], /3 to 3/],
    [
      'an undone correction has an effect',
      [...withdrawn(2), correct('recorded', 2), corrected('recorded', 2), ...saw(2, all(4))],
      /acknowledged/,
    ],
    [
      'a renamed block counts for its callers',
      [...acknowledged(1, 2), correct({ to: 'bot' }, 2), corrected({ to: 'bot' }, 2), ...saw(2, all(2))],
      /acknowledged/,
    ],
    [
      'a block is counted in another project',
      [...acknowledged(1, 2), { ...count(2), project: 'second' } as Entry, counted(2, all(2))],
      /second/,
    ],
    [
      'a block is counted at another time',
      [...acknowledged(1, 2), count(2, stretchesFrom(5, 1)), counted(2, all(2))],
      /counted/,
    ],
  ])('%s', (_what, history, problem) => {
    expect(problemsOf(history)).toEqual([expect.stringMatching(problem)]);
  });
});

describe('the checker accepts that', () => {
  test.each<[string, readonly Entry[]]>([
    ['nothing happened', saw(1, all())],
    ['a lost block is counted', [...lost(1, 2), ...saw(2, all(2)), ...saw(3, all(2))]],
    ['a lost block is counted only later', [...lost(1, 2), ...saw(2, all()), ...saw(3, all(2))]],
    ['one of two lost blocks is counted', [...lost(1, 2, 4), ...saw(2, all(4))]],
    ['a lost block that was recorded is sent again', [...lost(1, 2), record(2, 2), recorded(2, 0, 40)]],
    ['a lost block that was not recorded is sent again', [...lost(1, 2), ...acknowledged(2, 2)]],
    [
      'the second of two senders gets its response first',
      [record(1, 2), record(2, 2), recorded(2, 0, 40), recorded(1, 40)],
    ],
    [
      'a count that began before a recording includes it',
      [count(1), ...acknowledged(2, 2), counted(1, all(2))],
    ],
    [
      'a count that began before a recording does not include it',
      [count(1), ...acknowledged(2, 2), counted(1, all())],
    ],
    ['a refused block is sent again', [record(1, 2), refused(1), ...acknowledged(2, 2)]],
    ['an absent block is sent again', [...lost(1, 2), absent(2), ...acknowledged(2, 2)]],
    ['half a block is withdrawn so far', [...acknowledged(1, 2), correct('withdrawn', 2), ...saw(2, half)]],
    [
      'a count that began before a correction includes what that withdrew',
      [
        ...acknowledged(1, 2),
        count(2),
        correct('withdrawn', 2),
        corrected('withdrawn', 2),
        counted(2, all(2)),
      ],
    ],
    [
      'a correction is undone',
      [...withdrawn(2), correct('recorded', 2), corrected('recorded', 2), ...saw(2, all(2, 4)), verified(43)],
    ],
    [
      'a renamed block counts for its new caller',
      [
        ...acknowledged(1, 2),
        correct({ to: 'bot' }, 2),
        corrected({ to: 'bot' }, 2),
        ...saw(2, { ...one, web: 0, other: 40, total: 40 }),
      ],
    ],
    ['an import is counted', [{ kind: 'imported', project, blocks: [2, 3] }, ...saw(1, all(2, 3))]],
  ])('%s', (_what, history) => {
    expect(problemsOf(history)).toEqual([]);
  });
});

test('the checker accepts any history that counts each block once, and rejects it if one query is missing', () => {
  const step = fc.record({
    blocks: fc.uniqueArray(fc.constantFrom(1, 2, 4, 8, 11, 12), { minLength: 1, maxLength: 3 }),
    end: fc.constantFrom('answered', 'lost', 'never came'),
  });
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 20 }), (steps) => {
      const there = new Set<number>();
      const history = steps.flatMap(({ blocks, end }, op): Entry[] => {
        const news = blocks.filter((block) => end !== 'never came' && !there.has(block));
        for (const block of news) there.add(block);
        const begun = record(op, ...blocks);
        if (end !== 'answered') return [begun, { kind: 'unknown', op }];
        return [begun, recorded(op, sizes(news), sizes(blocks) - sizes(news))];
      });
      expect(problemsOf([...history, ...saw(99, all(...there))])).toEqual([]);
      const checker = new Checker();
      for (const entry of history) checker.take(entry);
      const counts = all(...there);
      const fewer = { ...counts, web: counts.web - 1, total: counts.total - 1 };
      if (checker.certain(project).length > 0)
        expect(problemsOf([...history, ...saw(99, fewer)])).toHaveLength(1);
    }),
  );
});

describe('known queries', () => {
  test('have unique ids in a project, and times within the period of their block', () => {
    const blocks = Array.from({ length: 60 }, (_, block) => block);
    const ids = new Set<string>();
    for (const block of blocks) {
      const { from, to } = stretchOf(block);
      for (const { id, occurredAt } of queriesOf(project, block)) {
        ids.add(id);
        expect(occurredAt >= from && occurredAt < to).toBe(true);
      }
    }
    expect(ids.size).toBe(sizes(blocks));
  });

  test('and the choices of a seed are the same in every run', () => {
    expect(queriesOf('second', 3)).toEqual(queriesOf('second', 3));
    const choices = (name: string) => Array.from({ length: 5 }, () => new Draw(name).of('x').below(1000));
    expect(choices('7')).toEqual(choices('7'));
    expect(new Draw('7').shuffled([1, 2, 3, 4, 5, 6])).toEqual(new Draw('7').shuffled([1, 2, 3, 4, 5, 6]));
    expect(new Draw('7').of('a').below(2 ** 32)).not.toBe(new Draw('8').of('a').below(2 ** 32));
  });
});
