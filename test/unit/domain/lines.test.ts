import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { identicalLinesKept } from '../../../src/domain/limits.js';
import { LineIds } from '../../../src/domain/queries/lines.js';

const idsOf = (lines: readonly string[], key?: Uint8Array): string[] => {
  const ids = new LineIds(key);
  return lines.map((line) => ids.next(Buffer.from(line)));
};

function countOf(lines: readonly string[], line: string): number {
  return lines.filter((one) => one === line).length;
}

/** Few lines, so that many are the same. */
const files = fc.array(fc.array(fc.constantFrom('a', 'b', 'c', 'a\n2', ''), { maxLength: 12 }), {
  maxLength: 5,
});

describe('ids of lines', () => {
  test('count a line as often as in the file that has it most often', () => {
    const property = fc.property(files, (all) => {
      const recorded = new Set(all.flatMap((lines) => idsOf(lines)));
      const lines = new Set(all.flat());
      const most = [...lines].map((line) => Math.max(...all.map((file) => countOf(file, line))));
      // A line of a file has no line end in it; that one is there to look like the second of another.
      fc.pre(![...lines].includes('a\n2'));
      expect(recorded.size).toBe(most.reduce((sum, count) => sum + count, 0));
    });
    fc.assert(property, { numRuns: 500 });
  });

  test('do not depend on the order of lines, and are canonical UUIDs', () => {
    const property = fc.property(fc.uniqueArray(fc.string(), { maxLength: 20 }), (lines) => {
      const ids = new Map(idsOf(lines).map((id, at) => [lines[at], id]));
      const others = idsOf(lines.toReversed()).reverse();
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
      new Set([...idsOf(lines), ...idsOf(lines, one), ...idsOf(lines, two), ...idsOf(lines, one)]).size,
    ).toBe(9);
  });

  test('distinguish identical lines within a bounded memory', () => {
    const ids = new LineIds();
    const line = Buffer.from('a');
    const first = ids.next(line);
    expect(ids.next(line)).not.toBe(first);
    for (let at = 0; at < identicalLinesKept; at++) ids.next(Buffer.from(String(at)));
    expect(ids.next(line)).toBe(first);
  });

  test('never change between releases', () => {
    expect(idsOf(['a', 'a'])).toEqual([
      'ca978112-ca1b-8dca-bac2-31b39a23dc4d',
      '29c58cb1-4a61-8e5f-a72f-134caaaf5de0',
    ]);
  });
});
