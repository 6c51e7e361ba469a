/** What the overview shows, and how that stands in the address: a link brings back just what was on screen. */
import { CALLER_TYPES } from '../../../src/domain/queries/caller.js';
import type { CallerType, Interval } from '../api/types.js';
import { INTERVALS } from '../time/interval.js';
import { type Choice, DEFAULT_CHOICE, isChoice, PRESETS } from '../time/range.js';
import { isZone } from '../time/zone.js';

export interface View {
  readonly choice: Choice;
  readonly zone: string;
  /** Null: what suits the range. */
  readonly interval: Interval | null;
  readonly compare: boolean;
  readonly table: boolean;
  /** Types that were taken out of the chart. */
  readonly hidden: readonly CallerType[];
}

/** What an address asks for; what it does not say, or says wrongly, is as usual. */
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
    compare: query.get('compare') === '1',
    table: query.get('table') === '1',
    hidden: CALLER_TYPES.filter((type) => query.get('hide')?.split(',').includes(type)),
  };
}

/** The query of the address, without the `?`. The zone is always in it: the same link shows everybody the same days. */
export function writeView({ choice, zone, interval, compare, table, hidden }: View): string {
  const pairs = 'preset' in choice ? { range: choice.preset } : { from: choice.from, to: choice.to };
  const query = new URLSearchParams({
    ...pairs,
    zone,
    ...(interval === null ? {} : { interval }),
    ...(compare ? { compare: '1' } : {}),
    ...(table ? { table: '1' } : {}),
    ...(hidden.length > 0 ? { hide: hidden.join(',') } : {}),
  });
  // These may stand in a query as they are, and read better.
  return query.toString().replaceAll('%2F', '/').replaceAll('%3A', ':').replaceAll('%2C', ',');
}

/** The range that an address asks for; null where it names none. */
export function readChoice(query: URLSearchParams, zone: string): Choice | null {
  const preset = PRESETS.find((one) => one === query.get('range'));
  if (preset !== undefined) return { preset };
  const custom = { from: query.get('from') ?? '', to: query.get('to') ?? '' };
  return isChoice(custom, zone) ? custom : null;
}

/** One in so many queries has to be of the usual range, for a project to open on that. */
const usualShare = 100;

/** What a project opens on: the usual range, or all time where next to nothing would be seen in that. */
export function usualChoiceOf(recentTotal: number, wholeTotal: number): Choice {
  return recentTotal * usualShare < wholeTotal ? { preset: 'all' } : DEFAULT_CHOICE;
}
