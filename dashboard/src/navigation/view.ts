/** The state of the overview, and its representation in the URL: a link restores exactly what was on screen. */
import { CALLER_TYPES, isCallerName } from '../../../src/domain/queries/caller.js';
import type { CallerType, Comparison, Interval, Project, WeekStart } from '../api/types.js';
import { recall } from '../preferences/local-storage.js';
import { type Choice, DEFAULT_CHOICE, isChoice } from '../time/choice.js';
import { COMPARISON_NAMES, findKey, INTERVAL_NAMES, PERIOD_NAMES, WEEK_START_NAMES } from '../time/names.js';
import { browserZone, isZoneName } from '../time/zone.js';

export interface View {
  readonly choice: Choice;
  readonly zone: string;
  readonly weekStart: WeekStart;
  /** Null: the best interval for the range. */
  readonly interval: Interval | null;
  /** What the chart shows for comparison; null for nothing. */
  readonly compare: Comparison | null;
  /** The only caller to count; null for all. */
  readonly caller: string | null;
  readonly table: boolean;
  /** Whether the chart shows the hours of the week. */
  readonly week: boolean;
  /** Types hidden from the chart. */
  readonly hidden: readonly CallerType[];
}

/** What the overview needs to know of a project to choose what it shows. A shared project has no id. */
export type Viewed = Pick<Project, 'timeZone'> & Partial<Pick<Project, 'id' | 'weekStart'>>;

/** Parses the view in a URL; missing and invalid parameters get their defaults. */
export function readView(query: URLSearchParams, project: Viewed, usualChoice = DEFAULT_CHOICE): View {
  const zone = query.get('zone') ?? '';
  const caller = query.get('caller') ?? '';
  return {
    choice: readChoice(query) ?? usualChoice,
    zone: isZoneName(zone) ? zone : (project.timeZone ?? browserZone()),
    weekStart: findKey(WEEK_START_NAMES, query.get('weekStart')) ?? usualWeekStart(project),
    interval: findKey(INTERVAL_NAMES, query.get('interval')) ?? null,
    compare: findKey(COMPARISON_NAMES, query.get('compare')) ?? null,
    caller: isCallerName(caller) ? caller : null,
    table: query.get('table') === '1',
    week: query.get('week') === '1',
    hidden: CALLER_TYPES.filter((type) => query.get('hide')?.split(',').includes(type)),
  };
}

/** The person's own, else the project's, as in the API. */
function usualWeekStart({ weekStart }: Viewed): WeekStart {
  return findKey(WEEK_START_NAMES, recall('weekStart')) ?? weekStart ?? 'monday';
}

/** The query string without `?`. It always includes zone and week, so that a link shows everyone the same days. */
export function writeView({
  choice,
  zone,
  weekStart,
  interval,
  compare,
  caller,
  table,
  week,
  hidden,
}: View): string {
  const query = new URLSearchParams({
    ...choice,
    zone,
    weekStart,
    ...(interval === null ? {} : { interval }),
    ...(compare === null ? {} : { compare }),
    ...(caller === null ? {} : { caller }),
    ...(table ? { table: '1' } : {}),
    ...(week ? { week: '1' } : {}),
    ...(hidden.length > 0 ? { hide: hidden.join(',') } : {}),
  });
  // These characters are valid in a query and easier to read unescaped.
  return query.toString().replaceAll('%2F', '/').replaceAll('%3A', ':').replaceAll('%2C', ',');
}

/** The range in a URL, or null. */
export function readChoice(query: URLSearchParams): Choice | null {
  const period = findKey(PERIOD_NAMES, query.get('period'));
  if (period !== undefined) return { period };
  const custom = { from: query.get('from') ?? '', to: query.get('to') ?? '' };
  return isChoice(custom) ? custom : null;
}

/** The default range must contain at least one in this many queries for a project to open on it. */
const usualShare = 100;

/** The range that a project opens on: the default one, or all time if the default would be nearly empty. */
export function initialChoice(recentTotal: number, wholeTotal: number): Choice {
  return recentTotal * usualShare < wholeTotal ? { period: 'all' } : DEFAULT_CHOICE;
}
