import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Effect } from '../../../src/domain/corrections/effect.js';
import { type Applied, correct, type QueryState } from '../../../src/domain/corrections/state.js';

const applied: fc.Arbitrary<Applied> = fc.oneof(
  fc.constantFrom('a', 'b', 'c').map((to): Applied => ({ action: 'rename', to })),
  fc.constant<Applied>({ action: 'withdraw', to: undefined }),
);

/** A correction that is added, or the place among the added ones of one that is taken back. */
const step = fc.oneof({ arbitrary: applied, weight: 3 }, { arbitrary: fc.nat({ max: 30 }), weight: 2 });

function naive(added: readonly (Applied | undefined)[]): QueryState {
  return added.reduce<QueryState>((state, one) => (one === undefined ? state : correct(state, one)), {
    caller: 'web',
    isWithdrawn: false,
  });
}

test('corrections that are added and taken back leave what those that are there make of a query', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const effect = new Effect('web');
      const added: (Applied | undefined)[] = [];
      for (const one of steps) {
        if (typeof one === 'object') effect.add(100 + added.push(one), one);
        else {
          effect.remove(101 + one);
          if (one < added.length) added[one] = undefined;
        }
        expect(effect.state()).toEqual(naive(added));
      }
    }),
    { numRuns: 500 },
  );
});
