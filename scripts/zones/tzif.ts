/** Reads the compiled files of the IANA time zone database: RFC 9636. */
import { hourMs, minuteMs, secondMs } from '../../src/domain/time/duration.js';

/** What a zone's clock does. Times and offsets are in seconds. */
export interface ZoneRules {
  readonly firstOffset: number;
  readonly transitions: readonly Transition[];
  /** What happens each year after the last transition. None or two. */
  readonly yearly: readonly YearlyChange[];
}

interface Transition {
  readonly time: number;
  readonly offset: number;
}

/** The change to an offset: of a month, the week (5 is the last), and the day of the week (0 is Sunday). */
interface YearlyChange {
  readonly offset: number;
  readonly month: number;
  readonly week: number;
  readonly weekday: number;
  /** Since midnight, by the clock as it is before the change. Negative before it, and more than a day after that day. */
  readonly time: number;
}

const headerBytes = 44;

/** The numbers in a header, in their order. */
const countNames = ['isUtc', 'isStandard', 'leapSeconds', 'transitions', 'types', 'letters'] as const;

export function readTzif(bytes: Buffer): ZoneRules {
  if (bytes.toString('latin1', 0, 4) !== 'TZif' || bytes[4] === 0)
    throw new Error('this is not a file of version 2 or later');
  // The first part, with times of 32 bits, is for older programs.
  const header = headerBytes + sizeOf(readCounts(bytes, 0), 4);
  const counts = readCounts(bytes, header);
  const times = header + headerBytes;
  const indexes = times + counts.transitions * 8;
  const types = indexes + counts.transitions;
  const offsetOf = (type: number): number => bytes.readInt32BE(types + type * 6);
  const transitions = Array.from({ length: counts.transitions }, (_, at) => ({
    time: Number(bytes.readBigInt64BE(times + at * 8)),
    offset: offsetOf(bytes.readUInt8(indexes + at)),
  }));
  const footer = bytes.toString('latin1', times + sizeOf(counts, 8)).trim();
  return { firstOffset: offsetOf(0), transitions, yearly: readFooter(footer) };
}

function readCounts(bytes: Buffer, header: number): Record<(typeof countNames)[number], number> {
  const counts = countNames.map((name, at) => [name, bytes.readUInt32BE(header + 20 + at * 4)]);
  return Object.fromEntries(counts) as Record<(typeof countNames)[number], number>;
}

function sizeOf(counts: ReturnType<typeof readCounts>, timeBytes: number): number {
  return (
    counts.transitions * (timeBytes + 1) +
    counts.types * 6 +
    counts.letters +
    counts.leapSeconds * (timeBytes + 4) +
    counts.isStandard +
    counts.isUtc
  );
}

const NAME = '(?:<[^>]+>|[A-Za-z]+)';
const TIME = '-?\\d+(?::\\d+){0,2}';
const CHANGE = `M(\\d+)\\.(\\d)\\.(\\d)(?:/(${TIME}))?`;
const YEARLY = new RegExp(`^${NAME}(${TIME})${NAME}(${TIME})?,${CHANGE},${CHANGE}$`);

/** The yearly changes of a text such as `CET-1CEST,M3.5.0,M10.5.0/3`, which has offsets from local time to UTC. */
function readFooter(footer: string): readonly YearlyChange[] {
  if (!footer.includes(',')) return [];
  const parts = YEARLY.exec(footer);
  if (parts === null) throw new Error(`the rule ${footer} is of an unknown kind`);
  const [, standardText = '', summerText, ...changes] = parts;
  const standard = -toSeconds(standardText);
  const summer = summerText === undefined ? standard + hourMs / secondMs : -toSeconds(summerText);
  const toChange = (offset: number, [month, week, weekday, time = '2']: (string | undefined)[]) => ({
    ...{ offset, month: Number(month), week: Number(week), weekday: Number(weekday), time: toSeconds(time) },
  });
  return [toChange(summer, changes.slice(0, 4)), toChange(standard, changes.slice(4))];
}

/** The seconds of a text such as `-2:30`. */
function toSeconds(text: string): number {
  const [hours = 0, minutes = 0, seconds = 0] = text.replace('-', '').split(':').map(Number);
  const all = (hours * hourMs + minutes * minuteMs) / secondMs + seconds;
  return text.startsWith('-') ? -all : all;
}
