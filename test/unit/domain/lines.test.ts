import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { identicalLinesKept } from '../../../src/domain/limits.js';
import { LineIds } from '../../../src/domain/queries/lines.js';

const makeIds = (lines: readonly string[], key?: Uint8Array): string[] => {
  const ids = new LineIds(key);
  return lines.map((line) => ids.next(Buffer.from(line)));
};

function countLine(lines: readonly string[], line: string): number {
  return lines.filter((one) => one === line).length;
}

/** Files of few different lines, so that many are identical. */
const files = fc.array(fc.array(fc.constantFrom('a', 'b', 'c', 'a\n2', ''), { maxLength: 12 }), {
  maxLength: 5,
});

describe('ids of lines', () => {
  test('of several files identify each line as often as the file with most copies of it', () => {
    const property = fc.property(files, (all) => {
      const recorded = new Set(all.flatMap((lines) => makeIds(lines)));
      const lines = new Set(all.flat());
      const most = [...lines].map((line) => Math.max(...all.map((file) => countLine(file, line))));
      // A line contains no line end. This one looks like the second copy of `a`.
      fc.pre(![...lines].includes('a\n2'));
      expect(recorded.size).toBe(most.reduce((sum, count) => sum + count, 0));
    });
    fc.assert(property, { numRuns: 500 });
  });

  test('are UUIDs that do not depend on the order of lines', () => {
    const property = fc.property(fc.uniqueArray(fc.string(), { maxLength: 20 }), (lines) => {
      const ids = new Map(makeIds(lines).map((id, at) => [lines[at], id]));
      const others = makeIds(lines.toReversed()).reverse();
      expect(others).toEqual(lines.map((line) => ids.get(line)));
      for (const id of others)
        expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    });
    fc.assert(property);
  });

  test('differ for each key', () => {
    const [one, two] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    const lines = ['a', 'a', 'b'];
    expect(
      new Set([...makeIds(lines), ...makeIds(lines, one), ...makeIds(lines, two), ...makeIds(lines, one)])
        .size,
    ).toBe(9);
  });

  test('tell identical lines apart, up to a limited number of different lines', () => {
    const ids = new LineIds();
    const line = Buffer.from('a');
    const first = ids.next(line);
    expect(ids.next(line)).not.toBe(first);
    for (let at = 0; at < identicalLinesKept; at++) ids.next(Buffer.from(String(at)));
    expect(ids.next(line)).toBe(first);
  });

  test('never change between releases', () => {
    expect(makeIds(['a', 'a'])).toEqual([
      'ca978112-ca1b-8dca-bac2-31b39a23dc4d',
      '29c58cb1-4a61-8e5f-a72f-134caaaf5de0',
    ]);
  });
});
