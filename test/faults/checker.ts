/**
 * Checks a history, as Jepsen does, using nothing else: every acknowledged block must be counted once from then on, a block
 * without a response once or not at all but never in part, and nothing else may be counted. While a block is corrected, each of
 * its queries counts as before or as after that.
 */

import { type Counts, mapTypes, type TypeCounts, zeroCounts } from '../../src/domain/counting/counts.js';
import { ALL_TIME, type DateRange } from '../../src/domain/counting/date-range.js';
import { CALLER_TYPES } from '../../src/domain/queries/caller.js';
import type { RecordResult } from '../../src/storage/ports/store.js';
import { countsAs, type Form, PROJECTS, type ProjectId, sizeOf, sum } from './blocks.js';
import type { Entry } from './history.js';

interface BlockState {
  /** It must be counted from now on. */
  counted: boolean;
  /** Recordings of it that are in progress, or ended without a response. */
  open: number;
  /** The entries that first sent it and that made it certain. */
  readonly sentAt: number;
  countedAt: number;
  /** The forms that its queries may have, each with the entry from which on they may. The last ones apply now. */
  readonly forms: { readonly at: number; readonly possible: readonly Form[] }[];
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
  readonly startedAt: number;
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
        this.#readings.set(entry.op, {
          ...entry,
          before: new Set(this.certain(entry.project)),
          startedAt: this.#entries,
        });
        return [];
      case 'correct':
      case 'corrected':
        for (const block of entry.blocks) {
          const { forms } = this.#stateOf(entry.project, block);
          const before = entry.kind === 'correct' ? formsSince(forms, this.#entries) : [];
          forms.push({ at: this.#entries, possible: [...before, entry.form] });
        }
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

  #counted({ project, range, before, startedAt }: Reading, counts: Counts): string[] {
    if (counts.total !== counts.web + counts.api + counts.other)
      return [`the total of ${show(counts)} is wrong`];
    const [sure, uncertain]: [TypeCounts[], { block: number; counts: TypeCounts }[]] = [[], []];
    const corrected: TypeCounts[] = [];
    for (const [block, state] of this.#of(project)) {
      const { least: here, more } = boundsOf(state, startedAt, project, block, range);
      if (!same(more, zeroCounts())) corrected.push(more);
      if (same(here, zeroCounts())) continue;
      if (before.has(block)) sure.push(here);
      else if (state.counted || state.open > 0) uncertain.push({ block, counts: here });
    }
    const [least, more] = [sum(sure), sum(corrected)];
    const over = mapTypes((type) => counts[type] - least[type]);
    const asked = range === ALL_TIME ? 'ever' : `${range.from} to ${range.to}`;
    if (
      !canMakeCounts(
        over,
        uncertain.map((one) => one.counts),
        more,
      )
    )
      return [
        `${project}, ${asked}: ${show(counts)} counted, ${show(least)} acknowledged, and ${uncertain.length} blocks that may be there`,
      ];
    const [only, ...others] = uncertain;
    // It was counted once, so it must be counted from now on.
    const isMore = CALLER_TYPES.some((type) => over[type] > more[type]);
    if (only !== undefined && others.length === 0 && isMore)
      this.#certain(this.#stateOf(project, only.block));
    return [];
  }

  #verified(queries: number, problems: number): string[] {
    const found = problems > 0 ? [`verify found ${problems} problems`] : [];
    const has = ({ forms }: BlockState, isWithdrawn: boolean) =>
      formsSince(forms, this.#entries).some((form) => (form === 'withdrawn') === isWithdrawn);
    const least = this.#total((state) => state.counted && !has(state, true));
    const most = this.#total((state) => (state.counted || state.open > 0) && has(state, false));
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
      forms: [{ at: 0, possible: ['recorded'] }],
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

/** The forms that were possible at the entry `at`, or later. */
function formsSince(forms: BlockState['forms'], at: number): Form[] {
  const first = forms.findLastIndex((one) => one.at <= at);
  return [...new Set(forms.slice(first).flatMap(({ possible }) => possible))];
}

/** The least that a block counts in a reading, and how much more it may. */
function boundsOf(
  { forms }: BlockState,
  startedAt: number,
  project: ProjectId,
  block: number,
  range: DateRange,
): { readonly least: TypeCounts; readonly more: TypeCounts } {
  const all = formsSince(forms, startedAt).map((form) => countsAs(form, project, block, range));
  const least = mapTypes((type) => Math.min(...all.map((counts) => counts[type])));
  return { least, more: mapTypes((type) => Math.max(...all.map((counts) => counts[type])) - least[type]) };
}

/** Whether a subset of the sizes has this sum. */
function canMake(total: number, sizes: readonly number[]): boolean {
  const parts = sizes.map((web) => ({ ...zeroCounts(), web }));
  return canMakeCounts({ ...zeroCounts(), web: total }, parts, zeroCounts());
}

/** Whether a subset of the parts, and no more than `more`, has this sum. */
function canMakeCounts(counts: TypeCounts, parts: readonly TypeCounts[], more: TypeCounts): boolean {
  if (CALLER_TYPES.some((type) => counts[type] < 0)) return false;
  if (parts.length > uncertainMax) {
    const most = sum(parts);
    return CALLER_TYPES.every((type) => counts[type] <= most[type] + more[type]);
  }
  const [part, ...rest] = parts;
  if (part === undefined) return CALLER_TYPES.every((type) => counts[type] <= more[type]);
  const without = mapTypes((type) => counts[type] - part[type]);
  return canMakeCounts(without, rest, more) || canMakeCounts(counts, rest, more);
}

function same(a: TypeCounts, b: TypeCounts): boolean {
  return CALLER_TYPES.every((type) => a[type] === b[type]);
}

function show(counts: TypeCounts): string {
  return CALLER_TYPES.map((type) => counts[type]).join('+');
}
