/** Finds the offsets of time zones in `zone-data.ts`. The only file that reads them. */
import { dayMs, eraMs, secondMs } from './duration.js';
import { ZONE_LINES } from './zone-data.js';

/** How long a zone keeps an offset. */
export interface OffsetUntil {
  /** Local time minus UTC, in whole seconds; whole minutes only since the 20th century. */
  readonly offsetMs: number;
  /** The end of the period, which is not part of it; infinite if the offset never changes again. */
  readonly to: number;
}

/** The rules of a zone, for all its names. They are read when a name is first used: most zones never are. */
class ZoneRules {
  readonly #line: string;
  #periods: readonly OffsetUntil[] | undefined;

  constructor(line: string) {
    this.#line = line;
  }

  /** The period that contains a moment. */
  periodAt(timeMs: number): OffsetUntil {
    this.#periods ??= readPeriods(this.#line);
    const endMs = this.#periods.at(-1)?.to ?? Number.POSITIVE_INFINITY;
    const repeatedMs = timeMs < endMs ? 0 : (Math.floor((timeMs - endMs) / eraMs) + 1) * eraMs;
    const { offsetMs, to } = findPeriod(timeMs - repeatedMs, this.#periods);
    return { offsetMs, to: to + repeatedMs };
  }
}

interface Zones {
  readonly rules: ReadonlyMap<string, ZoneRules>;
  /** The names that users select, in alphabetical order. */
  readonly selectable: readonly string[];
}

let zones: Zones | undefined;

/** Splits the constant data, once. */
function readZones(): Zones {
  if (zones !== undefined) return zones;
  const rules = new Map<string, ZoneRules>();
  const selectable: string[] = [];
  for (const line of ZONE_LINES.trim().split('\n')) {
    const [current = [], others = []] = line
      .slice(0, line.indexOf('|'))
      .split(';')
      .map((names) => names.split(' '));
    const shared = new ZoneRules(line);
    for (const name of [...current, ...others]) rules.set(name, shared);
    selectable.push(...current);
  }
  rules.delete('');
  zones = { rules, selectable: selectable.filter((name) => name !== '').toSorted() };
  return zones;
}

/** Names of all zones, except the other names that some have. */
export function listZoneNames(): readonly string[] {
  return readZones().selectable;
}

/** Finds the name of a zone without regard to case and to what joins its words, also by its city. */
export function findZoneName(name: string): string | undefined {
  const { rules } = readZones();
  if (rules.has(name)) return name;
  // People write `New York` and `new-york`.
  const wordsOf = (one: string) => one.toLowerCase().replaceAll(/(?<=[a-z])[ _-]+(?=[a-z])/g, '');
  const words = wordsOf(name);
  const isMeant = (one: string) => wordsOf(one) === words;
  return [...rules.keys()].find(isMeant) ?? listZoneNames().find((one) => isMeant(one.replace(/^.*\//, '')));
}

/** The period that contains a moment, in a zone that exists. */
export function periodAt(timeMs: number, name: string): OffsetUntil {
  const rules = readZones().rules.get(name);
  if (rules === undefined) throw new Error(`${name} is not a time zone`);
  return rules.periodAt(timeMs);
}

function findPeriod(timeMs: number, periods: readonly OffsetUntil[]): OffsetUntil {
  let [low, high] = [0, periods.length - 1];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((periods[middle]?.to ?? 0) <= timeMs) low = middle + 1;
    else high = middle;
  }
  return periods[low] ?? { offsetMs: 0, to: Number.POSITIVE_INFINITY };
}

interface Change {
  readonly timeMs: number;
  readonly offsetMs: number;
}

/** The periods of a zone. If its clock changes each year, the last periods cover 400 years, after which they repeat. */
function readPeriods(line: string): readonly OffsetUntil[] {
  const [, offsetsText = '', changesText = '', yearlyText = ''] = line.split('|');
  const offsets = offsetsText.split(' ').map((text) => Number(text) * secondMs);
  const listed = readChanges(changesText, offsets);
  const yearly = yearlyText === '' ? [] : repeatYearly(yearlyText, listed.at(-1)?.timeMs ?? 0);
  const periods: OffsetUntil[] = [];
  let offsetMs = offsets[0] ?? 0;
  for (const change of [...listed, ...yearly]) {
    // Some changes are only of the name of the offset.
    if (change.offsetMs === offsetMs) continue;
    periods.push({ offsetMs, to: change.timeMs });
    offsetMs = change.offsetMs;
  }
  const to = yearly[0] === undefined ? Number.POSITIVE_INFINITY : yearly[0].timeMs + eraMs;
  return [...periods, { offsetMs, to }];
}

function readChanges(text: string, offsets: readonly number[]): readonly Change[] {
  let seconds = 0;
  return (text === '' ? [] : text.split(' ')).map((change) => {
    seconds += Number.parseInt(change.slice(1), 36);
    return { timeMs: seconds * secondMs, offsetMs: offsets[Number.parseInt(change.slice(0, 1), 36)] ?? 0 };
  });
}

/** The yearly changes after a moment, for as many years as the calendar takes to repeat. */
function repeatYearly(text: string, afterMs: number): readonly Change[] {
  const rules = text.split(',').map((rule) => rule.split(' ').map(Number));
  const firstYear = new Date(afterMs).getUTCFullYear();
  const years = Array.from({ length: eraYears + 1 }, (_, at) => firstYear + at);
  return years
    .flatMap((year) =>
      rules.map(([offset = 0, month = 1, week = 1, weekday = 0, seconds = 0], at) => {
        const [before = 0] = rules[1 - at] ?? [];
        const timeMs = startOfWeekday(year, month, week, weekday) + (seconds - before) * secondMs;
        return { timeMs, offsetMs: offset * secondMs };
      }),
    )
    .toSorted((one, other) => one.timeMs - other.timeMs)
    .filter(({ timeMs }) => timeMs > afterMs)
    .slice(0, eraYears * rules.length);
}

const eraYears = 400;

/** Such as the second Sunday of March. Week 5 means the last. */
function startOfWeekday(year: number, month: number, week: number, weekday: number): number {
  const firstMs =
    week === 5 ? Date.UTC(year, month, 1) - 7 * dayMs : Date.UTC(year, month - 1, 1 + (week - 1) * 7);
  const days = (weekday - new Date(firstMs).getUTCDay() + 7) % 7;
  return firstMs + days * dayMs;
}
