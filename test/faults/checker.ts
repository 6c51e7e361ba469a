/**
 * Checks a history, as Jepsen does, using nothing else: every acknowledged block must be counted once from then on, a block
 * without a response once or not at all but never in part, and nothing else may be counted.
 */

import { type Counts, mapTypes, type TypeCounts, zeroCounts } from '../../src/domain/counting/counts.js';
import { ALL_TIME, type DateRange } from '../../src/domain/counting/date-range.js';
import { CALLER_TYPES } from '../../src/domain/queries/caller.js';
import type { RecordResult } from '../../src/storage/ports/store.js';
import { countsIn, PROJECTS, type ProjectId, sizeOf, sum } from './blocks.js';
import type { Entry } from './history.js';

interface BlockState {
  /** It must be counted from now on. */
  counted: boolean;
  /** Recordings of it that are in progress, or ended without a response. */
  open: number;
  /** The entries that first sent it and that made it certain. */
  readonly sentAt: number;
  countedAt: number;
}

interface Recording {
  readonly project: ProjectId;
  readonly blocks: readonly number[];
  /** Blocks that were counted when it started. */
  readonly before: ReadonlySet<number>;
}

interface Reading {
  readonly project: ProjectId;
  readonly range: DateRange;
  readonly before: ReadonlySet<number>;
}

/** With more uncertain blocks, only bounds are checked instead of every combination. */
const uncertainMax = 12;

/** The problems of a history. */
export function problemsOf(history: Iterable<Entry>): string[] {
  const checker = new Checker();
  return [...history].flatMap((entry) => checker.take(entry));
}

/** The same, entry by entry, without storing the history. */
export class Checker {
  readonly #blocks = new Map<ProjectId, Map<number, BlockState>>(PROJECTS.map((one) => [one, new Map()]));
  readonly #recordings = new Map<number, Recording>();
  readonly #readings = new Map<number, Reading>();
  #entries = 0;

  /** The queries that must be counted. */
  get counted(): number {
    return this.#total((state) => state.counted);
  }

  /** Those, and the queries that may be counted. */
  get countedAtMost(): number {
    return this.#total((state) => state.counted || state.open > 0);
  }

  /** The blocks that may be counted. */
  uncertain(project: ProjectId): number[] {
    return this.#where(project, (state) => !state.counted && state.open > 0);
  }

  /** The blocks that must be counted. */
  certain(project: ProjectId): number[] {
    return this.#where(project, (state) => state.counted);
  }

  /** When a block was first sent and when it became certain, as numbers of entries. */
  timesOf(project: ProjectId, block: number): { readonly sentAt: number; readonly countedAt: number } {
    const { sentAt = Number.POSITIVE_INFINITY, countedAt = Number.POSITIVE_INFINITY } =
      this.#of(project).get(block) ?? {};
    return { sentAt, countedAt };
  }

  /** Adds the next entry and returns its problems. */
  take(entry: Entry): string[] {
    this.#entries++;
    switch (entry.kind) {
      case 'record': {
        for (const block of entry.blocks) this.#stateOf(entry.project, block).open++;
        this.#recordings.set(entry.op, { ...entry, before: new Set(this.certain(entry.project)) });
        return [];
      }
      case 'refused': {
        const { project, blocks } = this.#end(this.#recordings, entry.op);
        for (const block of blocks) this.#stateOf(project, block).open--;
        return [];
      }
      case 'unknown':
        this.#end(this.#recordings, entry.op);
        return [];
      case 'recorded':
        return this.#recorded(this.#end(this.#recordings, entry.op), entry.result);
      case 'absent':
        this.#stateOf(entry.project, entry.block).open = 0;
        return [];
      case 'imported':
        for (const block of entry.blocks) this.#certain(this.#stateOf(entry.project, block));
        return [];
      case 'count':
        this.#readings.set(entry.op, { ...entry, before: new Set(this.certain(entry.project)) });
        return [];
      case 'counted':
        return this.#counted(this.#end(this.#readings, entry.op), entry.counts);
      case 'tiled': {
        const parts = sum(entry.parts);
        return same(parts, entry.whole)
          ? []
          : [`adjacent ranges give ${show(parts)}, and the whole ${show(entry.whole)}`];
      }
      case 'verified':
        return this.#verified(entry.queries, entry.problems);
    }
  }

  #recorded({ project, blocks, before }: Recording, { recorded, duplicates }: RecordResult): string[] {
    const sizes = (some: readonly number[]): number => some.reduce((total, one) => total + sizeOf(one), 0);
    const problems: string[] = [];
    if (recorded + duplicates !== sizes(blocks))
      problems.push(`${recorded} recorded and ${duplicates} duplicates are not the ${sizes(blocks)} sent`);
    const states = new Map(blocks.map((block) => [block, this.#stateOf(project, block)]));
    // No other recording of it is in progress or without a response, so it was new.
    const isNew = (block: number) =>
      !before.has(block) && states.get(block)?.open === 1 && !states.get(block)?.counted;
    const sure = sizes(blocks.filter(isNew));
    const uncertain = blocks.filter((block) => !before.has(block) && !isNew(block)).map(sizeOf);
    if (!canMake(recorded - sure, uncertain))
      problems.push(
        `${recorded} are said to be new, of ${sure} that were and ${uncertain.join('+') || 'none'} that may have been (${project}, blocks ${blocks})`,
      );
    for (const state of states.values()) {
      state.open--;
      this.#certain(state);
    }
    return problems;
  }

  #counted({ project, range, before }: Reading, counts: Counts): string[] {
    if (counts.total !== counts.web + counts.api + counts.other)
      return [`the total of ${show(counts)} is wrong`];
    const [sure, uncertain]: [TypeCounts[], { block: number; counts: TypeCounts }[]] = [[], []];
    for (const [block, state] of this.#of(project)) {
      const here = countsIn(project, block, range);
      if (here.web + here.api + here.other === 0) continue;
      if (before.has(block)) sure.push(here);
      else if (state.counted || state.open > 0) uncertain.push({ block, counts: here });
    }
    const least = sum(sure);
    const over = mapTypes((type) => counts[type] - least[type]);
    const asked = range === ALL_TIME ? 'ever' : `${range.from} to ${range.to}`;
    if (
      !canMakeCounts(
        over,
        uncertain.map((one) => one.counts),
      )
    )
      return [
        `${project}, ${asked}: ${show(counts)} counted, ${show(least)} acknowledged, and ${uncertain.length} blocks that may be there`,
      ];
    const [only, ...others] = uncertain;
    // It was counted once, so it must be counted from now on.
    if (only !== undefined && others.length === 0 && over.web + over.api + over.other > 0)
      this.#certain(this.#stateOf(project, only.block));
    return [];
  }

  #verified(queries: number, problems: number): string[] {
    const found = problems > 0 ? [`verify found ${problems} problems`] : [];
    const [least, most] = [this.counted, this.countedAtMost];
    if (queries < least || queries > most)
      found.push(`verify counts ${queries} queries; ${least} to ${most} can be there`);
    return found;
  }

  #certain(state: BlockState): void {
    if (!state.counted) state.countedAt = this.#entries;
    state.counted = true;
  }

  #of(project: ProjectId): Map<number, BlockState> {
    return this.#blocks.get(project) ?? new Map();
  }

  #stateOf(project: ProjectId, block: number): BlockState {
    const blocks = this.#of(project);
    const state = blocks.get(block) ?? {
      counted: false,
      open: 0,
      sentAt: this.#entries,
      countedAt: Number.POSITIVE_INFINITY,
    };
    blocks.set(block, state);
    return state;
  }

  #where(project: ProjectId, holds: (state: BlockState) => boolean): number[] {
    return [...this.#of(project)].filter(([, state]) => holds(state)).map(([block]) => block);
  }

  #total(holds: (state: BlockState) => boolean): number {
    const blocks = PROJECTS.flatMap((project) => this.#where(project, holds));
    return blocks.reduce((total, block) => total + sizeOf(block), 0);
  }

  #end<T>(under: Map<number, T>, op: number): T {
    const found = under.get(op);
    if (found === undefined) throw new Error(`operation ${op} ended before it started`);
    under.delete(op);
    return found;
  }
}

/** Whether a subset of the sizes has this sum. */
function canMake(total: number, sizes: readonly number[]): boolean {
  return canMakeCounts(
    { ...zeroCounts(), web: total },
    sizes.map((web) => ({ ...zeroCounts(), web })),
  );
}

function canMakeCounts(counts: TypeCounts, parts: readonly TypeCounts[]): boolean {
  if (CALLER_TYPES.some((type) => counts[type] < 0)) return false;
  if (parts.length > uncertainMax) {
    const most = sum(parts);
    return CALLER_TYPES.every((type) => counts[type] <= most[type]);
  }
  const [part, ...rest] = parts;
  if (part === undefined) return same(counts, zeroCounts());
  const without = mapTypes((type) => counts[type] - part[type]);
  return canMakeCounts(without, rest) || canMakeCounts(counts, rest);
}

function same(a: TypeCounts, b: TypeCounts): boolean {
  return CALLER_TYPES.every((type) => a[type] === b[type]);
}

function show(counts: TypeCounts): string {
  return CALLER_TYPES.map((type) => counts[type]).join('+');
}
