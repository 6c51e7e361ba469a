/**
 * Known queries in blocks. A block is recorded completely or not at all, and has its own time range, so that it can be
 * counted alone. A query is not stored: the number of its block and its place in it determine it.
 */

import { type TypeCounts, withTotal, zeroCounts } from '../../src/domain/counting/counts.js';
import type { DateRange } from '../../src/domain/counting/date-range.js';
import { CALLER_TYPES, callerType } from '../../src/domain/queries/caller.js';
import type { Query } from '../../src/domain/queries/query.js';

/** The projects of a run. They have queries with the same ids but other callers. */
export const PROJECTS = ['first', 'second'] as const;
export type ProjectId = (typeof PROJECTS)[number];

const callers = ['web', 'api', 'slack', 'sdk-python', 'web', 'git-cli', 'web'];

/** Sizes by the remainder of a block's number. Most queries are in blocks of a thousand. */
const sizes = [1000, 1, 40, 1000, 3, 1000, 150, 1000, 12, 1000];

/** A prime, so that blocks start and end anywhere in buckets. */
const stretchMs = 97_003;

/** The number of blocks. Half of their time ranges are before 1970; their order differs from that of the numbers. */
const BLOCKS_MAX = 65_536;
const step = 40_503;

export function sizeOf(block: number): number {
  return sizes[block % sizes.length] ?? 1;
}

/** The time range of a block, which contains no query of another block. */
export function stretchOf(block: number): DateRange {
  const from = (((block * step) % BLOCKS_MAX) - BLOCKS_MAX / 2) * stretchMs;
  return { from, to: from + stretchMs };
}

/** The range of this many adjacent blocks in time, starting with a block. */
export function stretchesFrom(block: number, howMany: number): DateRange {
  const { from } = stretchOf(block);
  return { from, to: from + howMany * stretchMs };
}

/** The query at a place in a block. */
function queryOf(project: ProjectId, block: number, place: number): Query {
  const number = block * 1024 + place;
  const ids = [
    `0190a8b2-7c3e-7d4f-8a5b-${number.toString(16).padStart(12, '0')}`,
    `query ${number}`,
    `16 bytes: ${number.toString(36).padStart(6, '0')}`,
  ];
  const { from, to } = stretchOf(block);
  // The first and the last millisecond of the range have queries; other milliseconds may have several.
  const offset = place === 1 ? to - from - 1 : (place * place * 17) % stretchMs;
  return {
    id: ids[number % ids.length] ?? '',
    caller: callers[(number + PROJECTS.indexOf(project) * 3) % callers.length] ?? '',
    occurredAt: from + offset,
  };
}

export function queriesOf(project: ProjectId, block: number): Query[] {
  return Array.from({ length: sizeOf(block) }, (_, place) => queryOf(project, block, place));
}

/** Counts the queries of a block in a range. */
export function countsOf(project: ProjectId, block: number, { from, to }: DateRange): TypeCounts {
  const counts = zeroCounts();
  for (const { caller, occurredAt } of queriesOf(project, block)) {
    if (occurredAt >= from && occurredAt < to) counts[callerType(caller)]++;
  }
  return counts;
}

const ofWhole = new Map<string, TypeCounts>();

/** For whom the queries of a block count: those who sent them, this caller, or nobody. */
export type Form = 'recorded' | 'withdrawn' | { readonly to: string };

/** The counts of a block that was corrected. */
export function countsAs(form: Form, project: ProjectId, block: number, range: DateRange): TypeCounts {
  if (form === 'withdrawn') return zeroCounts();
  const recorded = countsIn(project, block, range);
  if (form === 'recorded') return recorded;
  return { ...zeroCounts(), [callerType(form.to)]: recorded.web + recorded.api + recorded.other };
}

/** The counts of a block as it was recorded, cached for whole blocks. */
export function countsIn(project: ProjectId, block: number, range: DateRange): TypeCounts {
  const { from, to } = stretchOf(block);
  if (from >= range.to || to <= range.from) return zeroCounts();
  if (from < range.from || to > range.to) return countsOf(project, block, range);
  // Blocks of the same size that start with the same caller have the same counts.
  const name = `${project} ${(block * 1024) % callers.length} ${sizeOf(block)}`;
  const known = ofWhole.get(name) ?? countsOf(project, block, { from, to });
  ofWhole.set(name, known);
  return known;
}

export function sum(all: Iterable<TypeCounts>) {
  const total = zeroCounts();
  for (const one of all) for (const type of CALLER_TYPES) total[type] += one[type];
  return withTotal(total);
}
