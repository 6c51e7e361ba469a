/**
 * Local times of a zone and the instants they are. Ranges are chosen in local days and asked for in instants, so a
 * day that is 23 or 25 hours long must come out as just that. The platform knows every zone's offsets; the rest is here.
 */
import { type Day, utcOf } from './calendar.js';

const DAY_MS = 86_400_000;

/** A local time: a day and `HH:mm`. */
export interface Local {
  readonly day: Day;
  readonly time: string;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
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

/** Whether this platform has a zone of that name. */
export function isZone(name: string): boolean {
  // `+02:00` is a zone to newer platforms, but not to the server.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    formatOf(name);
    return true;
  } catch {
    return false;
  }
}

/** Zones that have another name now than many browsers list and report: whoever searches for `Kolkata` should find it. */
const RENAMED = [
  'Africa/Asmara',
  'America/Argentina/Buenos_Aires',
  'America/Argentina/Catamarca',
  'America/Argentina/Cordoba',
  'America/Argentina/Jujuy',
  'America/Argentina/Mendoza',
  'America/Atikokan',
  'America/Indiana/Indianapolis',
  'America/Kentucky/Louisville',
  'America/Nuuk',
  'Asia/Ho_Chi_Minh',
  'Asia/Kathmandu',
  'Asia/Kolkata',
  'Asia/Yangon',
  'Atlantic/Faroe',
  'Europe/Kyiv',
  'Pacific/Chuuk',
  'Pacific/Kanton',
  'Pacific/Pohnpei',
];

let newNames: ReadonlyMap<string, string> | undefined;

/** What a zone is called today. */
function newNameOf(zone: string): string {
  newNames ??= new Map(
    RENAMED.filter(isZone).map((name) => [formatOf(name).resolvedOptions().timeZone, name] as const),
  );
  return newNames.get(zone) ?? zone;
}

/** The zone of the reader's own clock; UTC where the browser does not know. */
export function browserZone(): string {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  return isZone(timeZone) ? newNameOf(timeZone) : 'UTC';
}

/** Every zone there is to choose from, by name. */
export function allZones(): string[] {
  return [...new Set(['UTC', ...Intl.supportedValuesOf('timeZone').map(newNameOf)])].sort();
}

/** The local time of an instant, to the minute. */
export function localOf(at: number, zone: string): Local {
  const text = new Date(at + offsetOf(at, zone)).toISOString();
  return { day: text.slice(0, 10), time: text.slice(11, 16) };
}

/**
 * The instant of a local time. Of one that happens twice it is the first; one that the clocks jump over is moved by
 * as much as they jump, as every calendar does.
 */
export function instantOf({ day, time }: Local, zone: string): number {
  const wall = utcOf(day) + minutesOf(time) * 60_000;
  const { early, late } = candidates(wall, zone);
  return early + offsetOf(early, zone) === wall ? early : late;
}

/** The first instant of a day, whether or not the zone has a midnight on it. */
export function startOfDay(day: Day, zone: string): number {
  const wall = utcOf(day);
  let { early, late } = candidates(wall, zone);
  if (early + offsetOf(early, zone) === wall) return early;
  if (late + offsetOf(late, zone) === wall) return late;
  // The clocks jump over midnight somewhere in between; the day begins where they land.
  const before = offsetOf(early, zone);
  while (late - early > 1) {
    const middle = Math.floor((early + late) / 2);
    if (offsetOf(middle, zone) === before) early = middle;
    else late = middle;
  }
  return late;
}

/** How far local time is ahead of UTC at an instant, in milliseconds. */
export function offsetOf(at: number, zone: string): number {
  const parts = new Map(
    formatOf(zone)
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

/** A local time is one of two instants where the zone's offset changes within a day of it, else both are the same. */
function candidates(wall: number, zone: string): { early: number; late: number } {
  const offsets = [offsetOf(wall - DAY_MS, zone), offsetOf(wall + DAY_MS, zone)];
  return { early: wall - Math.max(...offsets), late: wall - Math.min(...offsets) };
}

function minutesOf(time: string): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5));
}
