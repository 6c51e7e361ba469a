/** Deliveries and questions by their number, determined by the seed. */
import { ALL_TIME, type DateRange } from '../../src/domain/counting/date-range.js';
import { PROJECTS, type ProjectId, stretchesFrom, stretchOf } from './blocks.js';
import type { Draw } from './draw.js';

/** The number of blocks of a delivery. It sends some of them, and maybe earlier ones. */
export const BLOCKS_A_DELIVERY = 3;

export interface Delivery {
  readonly project: ProjectId;
  readonly blocks: readonly number[];
  readonly form: 'json' | 'ndjson';
  /** If all blocks are known to be recorded, send the same ids with another caller, which must change nothing. */
  readonly altered: boolean;
  /** Sent by two senders at once. */
  readonly twice: boolean;
}

export function deliveryOf(seed: Draw, number: number): Delivery {
  const draw = seed.of(`delivery ${number}`);
  const own = Array.from(
    { length: draw.below(BLOCKS_A_DELIVERY) + 1 },
    (_, at) => number * BLOCKS_A_DELIVERY + at,
  );
  const repeats = number > 0 && draw.oneIn(5);
  const earlier = repeats ? [draw.below(number * BLOCKS_A_DELIVERY)] : [];
  const only = repeats && draw.oneIn(2);
  return {
    project: draw.pick(PROJECTS),
    blocks: draw.shuffled(only ? earlier : [...own, ...earlier]),
    form: draw.oneIn(3) ? 'ndjson' : 'json',
    altered: draw.oneIn(2),
    twice: draw.oneIn(10),
  };
}

type View = 'caller-stats' | 'callers' | 'series';

export interface Question {
  readonly project: ProjectId;
  readonly view: View;
  readonly range: DateRange;
}

/** A question about blocks that are probably recorded, with bounds at, near and between their ends. */
export function questionOf(seed: Draw, number: number, blocks: readonly number[]): Question {
  const draw = seed.of(`question ${number}`);
  const view = draw.pick(['caller-stats', 'caller-stats', 'callers', 'series'] as const);
  const project = draw.pick(PROJECTS);
  if (blocks.length === 0 || draw.oneIn(4)) return { project, view, range: ALL_TIME };
  const [one, other] = [stretchOf(draw.pick(blocks)), stretchOf(draw.pick(blocks))];
  const ends = [one.from + draw.below(2) * draw.below(97_003), other.to + draw.below(3) - 1];
  const range = draw.oneIn(3)
    ? stretchesFrom(draw.pick(blocks), draw.below(5) + 1)
    : { from: Math.min(...ends), to: Math.max(...ends) };
  return { project, view, range };
}

/** The bounds of adjacent parts of a range. */
export function cutsOf(draw: Draw, { from, to }: DateRange, pieces: number): number[] {
  const inner = Array.from(
    { length: pieces - 1 },
    () => from + draw.below(Math.max(1, Math.min(to - from, 2 ** 32))),
  );
  return [from, ...inner, to].toSorted((a, b) => a - b);
}
