/**
 * Known queries, in blocks: a block is recorded all or not at all, and has a stretch of time of its own, so that its count
 * can be asked for alone. Nothing is kept of a query: its block's number and its place in it give it again.
 */

import { type TypeCounts, withTotal } from '../../src/domain/counting/counts.js';
import type { DateRange } from '../../src/domain/counting/date-range.js';
import { callerType } from '../../src/domain/queries/caller.js';
import type { Query } from '../../src/domain/queries/query.js';

/** Projects of a run. They have the same ids, with other callers at other times. */
export const PROJECTS = ['first', 'second'] as const;
export type ProjectId = (typeof PROJECTS)[number];

const callers = ['web', 'api', 'slack', 'sdk-python', 'web', 'git-cli', 'web'];

/** By the number's remainder. Most queries come by the thousand. */
const sizes = [1000, 1, 40, 1000, 3, 1000, 150, 1000, 12, 1000];

/** A prime, so that blocks begin and end anywhere in the buckets of all widths. */
const stretchMs = 97_003;

/** Blocks that there are; their stretches lie half before and half behind 1970, in an order that is not theirs. */
const BLOCKS_MAX = 65_536;
const step = 40_503;

export function sizeOf(block: number): number {
  return sizes[block % sizes.length] ?? 1;
}

/** The stretch of time that all queries of a block are in, and of no other block. */
export function stretchOf(block: number): DateRange {
  const from = (((block * step) % BLOCKS_MAX) - BLOCKS_MAX / 2) * stretchMs;
  return { from, to: from + stretchMs };
}

/** The range that exactly these many neighbouring stretches make up, from that of a block on. */
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
  // The first and the last millisecond of the stretch have queries; others share theirs.
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

/** What of a block lies in a range, counted one by one. */
export function countsOf(project: ProjectId, block: number, { from, to }: DateRange): TypeCounts {
  const counts = { web: 0, api: 0, other: 0 };
  for (const { caller, occurredAt } of queriesOf(project, block)) {
    if (occurredAt >= from && occurredAt < to) counts[callerType(caller)]++;
  }
  return counts;
}

const ofWhole = new Map<string, TypeCounts>();

/** The same, which is kept for whole blocks: they are counted again and again. */
export function countsIn(project: ProjectId, block: number, range: DateRange): TypeCounts {
  const { from, to } = stretchOf(block);
  if (from >= range.to || to <= range.from) return { web: 0, api: 0, other: 0 };
  if (from < range.from || to > range.to) return countsOf(project, block, range);
  // A block's counts repeat with its number: by its size, and by the callers' turn.
  const name = `${project} ${(block * 1024) % callers.length} ${sizeOf(block)}`;
  const known = ofWhole.get(name) ?? countsOf(project, block, { from, to });
  ofWhole.set(name, known);
  return known;
}

export function sum(all: Iterable<TypeCounts>) {
  const total = { web: 0, api: 0, other: 0 };
  for (const { web, api, other } of all) {
    total.web += web;
    total.api += api;
    total.other += other;
  }
  return withTotal(total);
}
