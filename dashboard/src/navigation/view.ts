/** The state of the overview, and its representation in the URL: a link restores exactly what was on screen. */
import { CALLER_TYPES, isCallerName } from '../../../src/domain/queries/caller.js';
import type { CallerType, Interval, Project } from '../api/types.js';
import { INTERVALS } from '../time/interval.js';
import { type Choice, type Comparison, DEFAULT_CHOICE, isChoice, PRESETS } from '../time/range.js';
import { browserZone, isZone } from '../time/zone.js';

export interface View {
  readonly choice: Choice;
  readonly zone: string;
  /** Null: the best interval for the range. */
  readonly interval: Interval | null;
  /** What the chart shows for comparison; null for nothing. */
  readonly compare: Comparison | null;
  /** The only caller to count; null for all. */
  readonly caller: string | null;
  readonly table: boolean;
  /** Types hidden from the chart. */
  readonly hidden: readonly CallerType[];
}

/** What the overview needs to know of a project to choose what it shows. A shared project has no id. */
export type Viewed = Pick<Project, 'timeZone'> & Partial<Pick<Project, 'id'>>;

/** The default zone of a project. */
export function defaultZone(project: Viewed): string {
  return project.timeZone !== null && isZone(project.timeZone) ? project.timeZone : browserZone();
}

const COMPARE_VALUES: Readonly<Record<string, Comparison | undefined>> = Object.assign(Object.create(null), {
  1: 'previous',
  year: 'previous-year',
});

function readCaller(text: string | null): string | null {
  return text !== null && isCallerName(text) ? text : null;
}

/** Parses the view in a URL; missing and invalid parameters get their defaults. */
export function readView(
  query: URLSearchParams,
  usualZone: string,
  usualChoice: Choice = DEFAULT_CHOICE,
): View {
  const named = query.get('zone');
  const zone = named !== null && isZone(named) ? named : usualZone;
  return {
    choice: readChoice(query, zone) ?? usualChoice,
    zone,
    interval: INTERVALS.find((one) => one === query.get('interval')) ?? null,
    compare: COMPARE_VALUES[query.get('compare') ?? ''] ?? null,
    caller: readCaller(query.get('caller')),
    table: query.get('table') === '1',
    hidden: CALLER_TYPES.filter((type) => query.get('hide')?.split(',').includes(type)),
  };
}

/** The query string without `?`. It always includes the zone, so that a link shows everyone the same days. */
export function writeView({ choice, zone, interval, compare, caller, table, hidden }: View): string {
  const pairs = 'preset' in choice ? { range: choice.preset } : { from: choice.from, to: choice.to };
  const query = new URLSearchParams({
    ...pairs,
    zone,
    ...(interval === null ? {} : { interval }),
    ...(compare === null ? {} : { compare: compare === 'previous' ? '1' : 'year' }),
    ...(caller === null ? {} : { caller }),
    ...(table ? { table: '1' } : {}),
    ...(hidden.length > 0 ? { hide: hidden.join(',') } : {}),
  });
  // These characters are valid in a query and easier to read unescaped.
  return query.toString().replaceAll('%2F', '/').replaceAll('%3A', ':').replaceAll('%2C', ',');
}

/** The range in a URL, or null. */
export function readChoice(query: URLSearchParams, zone: string): Choice | null {
  const preset = PRESETS.find((one) => one === query.get('range'));
  if (preset !== undefined) return { preset };
  const custom = { from: query.get('from') ?? '', to: query.get('to') ?? '' };
  return isChoice(custom, zone) ? custom : null;
}

/** The default range must contain at least one in this many queries for a project to open on it. */
const usualShare = 100;

/** The range that a project opens on: the default one, or all time if the default would be nearly empty. */
export function initialChoice(recentTotal: number, wholeTotal: number): Choice {
  return recentTotal * usualShare < wholeTotal ? { preset: 'all' } : DEFAULT_CHOICE;
}
