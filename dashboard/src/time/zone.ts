/**
 * Conversion between local times and instants. Users select local days, and the API takes instants, so days of 23 and
 * 25 hours must come out exactly. The browser knows the offsets of all zones.
 */
import { type Day, dayToUtc } from './calendar.js';

const DAY_MS = 86_400_000;

/** A local time: a day and `HH:mm`. */
export interface Local {
  readonly day: Day;
  readonly time: string;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function zoneFormat(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    });
    formats.set(zone, format);
  }
  return format;
}

/** Whether the browser knows the zone. */
export function isZone(name: string): boolean {
  // Newer browsers accept `+02:00` as a zone, but the server does not.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    zoneFormat(name);
    return true;
  } catch {
    return false;
  }
}

/** Zones that were renamed, where many browsers still report the old name: searching for `Kolkata` must find it. */
const NEW_NAMES: Readonly<Record<string, string | undefined>> = {
  'Africa/Asmera': 'Africa/Asmara',
  'America/Buenos_Aires': 'America/Argentina/Buenos_Aires',
  'America/Catamarca': 'America/Argentina/Catamarca',
  'America/Cordoba': 'America/Argentina/Cordoba',
  'America/Jujuy': 'America/Argentina/Jujuy',
  'America/Mendoza': 'America/Argentina/Mendoza',
  'America/Coral_Harbour': 'America/Atikokan',
  'America/Indianapolis': 'America/Indiana/Indianapolis',
  'America/Louisville': 'America/Kentucky/Louisville',
  'America/Godthab': 'America/Nuuk',
  'Asia/Saigon': 'Asia/Ho_Chi_Minh',
  'Asia/Katmandu': 'Asia/Kathmandu',
  'Asia/Calcutta': 'Asia/Kolkata',
  'Asia/Rangoon': 'Asia/Yangon',
  'Atlantic/Faeroe': 'Atlantic/Faroe',
  'Europe/Kiev': 'Europe/Kyiv',
  'Pacific/Truk': 'Pacific/Chuuk',
  'Pacific/Enderbury': 'Pacific/Kanton',
  'Pacific/Ponape': 'Pacific/Pohnpei',
};

/** The current name of a zone, if the browser knows it. */
function currentName(zone: string): string {
  const name = NEW_NAMES[zone];
  return name !== undefined && isZone(name) ? name : zone;
}

/** The zone of the user's system; UTC if the browser does not know it. */
export function browserZone(): string {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  return isZone(timeZone) ? currentName(timeZone) : 'UTC';
}

/** All selectable zones, by name. */
export function allZones(): string[] {
  return [...new Set(['UTC', ...Intl.supportedValuesOf('timeZone').map(currentName)])].sort();
}

/** The local time of an instant, to the minute. */
export function toLocal(at: number, zone: string): Local {
  const text = new Date(at + zoneOffset(at, zone)).toISOString();
  return { day: text.slice(0, 10), time: text.slice(11, 16) };
}

/**
 * The instant of a local time, by the rules of the API: of a time that occurs twice, the first instant; of a time that a
 * clock change skips, the instant of the change.
 */
export function toInstant({ day, time }: Local, zone: string): number {
  const wall = dayToUtc(day) + toMinutes(time) * 60_000;
  let { early, late } = candidates(wall, zone);
  if (early + zoneOffset(early, zone) === wall) return early;
  if (late + zoneOffset(late, zone) === wall) return late;
  const before = zoneOffset(early, zone);
  while (late - early > 1) {
    const middle = Math.floor((early + late) / 2);
    if (zoneOffset(middle, zone) === before) early = middle;
    else late = middle;
  }
  return late;
}

/** The first instant of a day. */
export function startOfDay(day: Day, zone: string): number {
  return toInstant({ day, time: '00:00' }, zone);
}

/** The UTC offset of a zone at an instant, in milliseconds. */
export function zoneOffset(at: number, zone: string): number {
  const parts = new Map(
    zoneFormat(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const part = (name: Intl.DateTimeFormatPartTypes): number => parts.get(name) ?? 0;
  const local = Date.UTC(
    part('year'),
    part('month') - 1,
    part('day'),
    part('hour'),
    part('minute'),
    part('second'),
  );
  return local - Math.floor(at / 1000) * 1000;
}

/** A local time can mean two instants if the offset changes within a day of it; otherwise both are equal. */
function candidates(wall: number, zone: string): { early: number; late: number } {
  const offsets = [zoneOffset(wall - DAY_MS, zone), zoneOffset(wall + DAY_MS, zone)];
  return { early: wall - Math.max(...offsets), late: wall - Math.min(...offsets) };
}

function toMinutes(time: string): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5));
}
