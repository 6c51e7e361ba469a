/** The messages of notifications, in plain English. */
import { describeChange } from '../counting/change.js';
import type { Counts } from '../counting/counts.js';
import type { DateRange } from '../counting/date-range.js';
import { formatCount, formatQuantity } from '../format.js';
import type { Project } from '../projects/project.js';
import { formatWithOffset } from '../time/date-time.js';
import { minuteMs } from '../time/duration.js';
import { offsetAt, type TimeZone } from '../time/time-zone.js';
import type { Notice, Notices } from './evaluation.js';
import { describeTrigger, type Notification } from './notification.js';

/** A message as it is stored, so that every attempt sends the same. */
export interface Message {
  readonly type: keyof Notices | 'test';
  /** When it was made: RFC 3339 in UTC. */
  readonly timestamp: string;
  readonly title: string;
  /** Paragraphs, with line breaks between them. */
  readonly text: string;
  /** The numbers, for programs. */
  readonly data: object;
}

export interface MessageContext {
  readonly project: Pick<Project, 'id' | 'name'>;
  readonly notification: Notification;
  readonly nowMs: number;
  /** The address of the project's pages; undefined if the server does not know its public address. */
  readonly link: string | undefined;
  /** What keeps queries from being recorded, or soon will, and what to do. */
  readonly warnings?: readonly string[];
}

interface Wording {
  readonly title: string;
  readonly sentences: readonly string[];
  readonly data: object;
}

export function writeMessage(notice: Notice, context: MessageContext): Message {
  const { project, notification } = context;
  const { title, sentences, data } = word(notice, {
    name: project.name,
    zone: notification.timeZone,
    notification,
  });
  return compose(notice.type, { title, sentences, data }, context);
}

export function writeTestMessage(context: MessageContext): Message {
  const { project, notification } = context;
  const sentences = [
    `This is a test message for ${project.name}. Messages of this notification (${describeTrigger(notification)}) will arrive here.`,
  ];
  return compose('test', { title: `${project.name}: test message`, sentences, data: {} }, context);
}

function compose(
  type: Message['type'],
  { title, sentences, data }: Wording,
  { project, notification, nowMs, link, warnings = [] }: MessageContext,
): Message {
  const reason = `${notification.createdBy} set up this message: ${describeTrigger(notification)}.`;
  const paragraphs = [...sentences, ...warnings, ...(link === undefined ? [] : [link]), reason];
  return {
    type,
    timestamp: new Date(nowMs).toISOString(),
    title,
    text: paragraphs.join('\n\n'),
    data: {
      project: { id: project.id, name: project.name },
      timeZone: notification.timeZone,
      ...data,
      ...(warnings.length > 0 && { warnings }),
      ...(link === undefined ? {} : { link }),
    },
  };
}

interface Subject {
  readonly name: string;
  readonly zone: TimeZone;
  readonly notification: Notification;
}

function word<Type extends keyof Notices>(notice: Notice<Type>, subject: Subject): Wording {
  return WORDINGS[notice.type](notice, subject);
}

const WORDINGS: {
  readonly [Type in keyof Notices]: (notice: Notice<Type>, subject: Subject) => Wording;
} = {
  digest: (notice, { name, zone, notification: { period } }) => {
    const { range, counts, previous } = notice;
    return {
      title: `${name}: ${queries(counts.total)} in the ${period} from ${dateOf(range.from, zone)}`,
      sentences: [
        `${name} recorded ${queries(counts.total)} from ${rangeInWords(range, zone)}.`,
        countsInWords(counts),
        comparisonInWords(notice, `the ${period} before`, zone),
      ],
      data: { ...rangeData(range, zone), counts, previous: { counts: previous } },
    };
  },

  silence: ({ range, lastAt }, { name, zone, notification: { hours } }) => ({
    title: `${name}: nothing recorded for ${formatQuantity(hours ?? 0, 'hour')}`,
    sentences: [
      `${name} recorded no query from ${rangeInWords(range, zone)}.`,
      ...(lastAt === null ? [] : [`The last query before that occurred on ${timeOf(lastAt, zone)}.`]),
      'You get one more message when queries arrive again.',
    ],
    data: {
      ...rangeData(range, zone),
      lastQueryAt: lastAt === null ? null : formatWithOffset(lastAt, offsetAt(lastAt, zone)),
    },
  }),

  silence_end: ({ range, counts }, { name, zone }) => ({
    title: `${name}: queries are recorded again`,
    sentences: [
      `${name} recorded ${queries(counts.total)} from ${rangeInWords(range, zone)}, after the silence that was reported.`,
      countsInWords(counts),
    ],
    data: { ...rangeData(range, zone), counts },
  }),

  spike: ({ range, counts, usual }, { name, zone, notification: { minimum, factor } }) => ({
    title: `${name}: ${queries(counts.total)} in one hour`,
    sentences: [
      `${name} recorded ${queries(counts.total)} from ${rangeInWords(range, zone)}.`,
      countsInWords(counts),
      `The usual number is ${formatCount(usual)} (median of the same hour in the four weeks before).${timesInWords(counts.total, usual)}`,
      'You will get no other message until an hour is back to normal.',
    ],
    data: { ...rangeData(range, zone), counts, usual, factor, minimum },
  }),

  drop: ({ range, counts, usual }, { name, zone, notification: { minimum, factor } }) => ({
    title: `${name}: ${queries(counts.total)} in one hour, usually ${formatCount(usual)}`,
    sentences: [
      `${name} recorded ${queries(counts.total)} from ${rangeInWords(range, zone)}.`,
      countsInWords(counts),
      `The usual number is ${formatCount(usual)} (median of the same hour in the four weeks before).`,
      'You will get no other message until an hour is back to normal.',
    ],
    data: { ...rangeData(range, zone), counts, usual, factor, minimum },
  }),

  threshold: ({ range, counts }, { name, zone, notification: { minimum } }) => ({
    title: `${name}: ${queries(counts.total)} in one hour`,
    sentences: [
      `${name} recorded ${queries(counts.total)} from ${rangeInWords(range, zone)}, at least ${formatCount(minimum ?? 0)}.`,
      countsInWords(counts),
      'You will get no other message until an hour has fewer.',
    ],
    data: { ...rangeData(range, zone), counts, minimum },
  }),

  new_caller: ({ range, counts, callers }, { name, zone }) => {
    const named = callers.slice(0, callersNamedMax);
    const more = callers.length - named.length;
    const first = callers.length === 1 ? named[0]?.caller : formatQuantity(callers.length, 'caller');
    const list = named.map(({ caller, count }) => `${caller} ${formatCount(count)}`).join(', ');
    return {
      title: `${name}: first queries from ${first}`,
      sentences: [
        `From ${rangeInWords(range, zone)}, ${name} recorded the first queries from ${list}${more > 0 ? `, and ${formatQuantity(more, 'more caller')}` : ''}.`,
        'If it is a misspelt name, correct its sender, and rename the caller on the page Corrections.',
      ],
      data: { ...rangeData(range, zone), counts, callers: named },
    };
  },
};

/** Callers named in a message. */
const callersNamedMax = 10;

function queries(count: number): string {
  return count === 0 ? 'no queries' : formatQuantity(count, 'query', 'queries');
}

/** Counts by caller type: `web 800, api 300, other 134: 1,234 in total.` */
function countsInWords({ web, api, other, total }: Counts): string {
  const types = Object.entries({ web, api, other }).map(([type, count]) => `${type} ${formatCount(count)}`);
  return `By caller: ${types.join(', ')}; ${formatCount(total)} in total.`;
}

function comparisonInWords(
  { counts, previous, comparedFrom, recordingBegan }: Notice<'digest'>,
  when: string,
  zone: TimeZone,
): string {
  const format = (timeMs: number): string => formatWithOffset(timeMs, offsetAt(timeMs, zone));
  const change = describeChange(counts.total, previous.total, {
    comparedFrom: format(comparedFrom),
    recordingBegan: recordingBegan === null ? null : format(recordingBegan),
  });
  switch (change?.direction) {
    case undefined:
      return `There were none in ${when} either.`;
    case 'new':
      return `There were none in ${when}.`;
    case 'same':
      return `That is as many as in ${when}.`;
    case 'unknown':
      return `It cannot be compared with ${when}: ${change.text}.`;
    case 'up':
    case 'down': {
      const direction = change.direction === 'up' ? 'more' : 'fewer';
      return `That is ${change.text} ${direction} than in ${when}, which had ${formatCount(previous.total)}.`;
    }
  }
}

function timesInWords(now: number, usual: number): string {
  if (usual === 0) return '';
  return ` The hour had ${formatCount(Math.floor((now / usual) * 10) / 10)} times as many.`;
}

function rangeInWords({ from, to }: DateRange, zone: TimeZone): string {
  return `${timeOf(from, zone)} to ${timeOf(to, zone)} (${zone})`;
}

function rangeData({ from, to }: DateRange, zone: TimeZone): object {
  const format = (timeMs: number): string => formatWithOffset(timeMs, offsetAt(timeMs, zone));
  return { dateFrom: format(from), dateTo: format(to) };
}

/** `November 16, 2026`. */
function dateOf(timeMs: number, zone: TimeZone): string {
  return formatUtc(timeMs + offsetAt(timeMs, zone), { dateStyle: 'long' });
}

/** `Monday, November 16, 2026, 00:00`. */
function timeOf(timeMs: number, zone: TimeZone): string {
  const localMs = Math.floor((timeMs + offsetAt(timeMs, zone)) / minuteMs) * minuteMs;
  const clock = new Date(localMs).toISOString().slice('YYYY-MM-DDT'.length, 'YYYY-MM-DDTHH:MM'.length);
  return `${formatUtc(localMs, { weekday: 'long' })}, ${formatUtc(localMs, { dateStyle: 'long' })}, ${clock}`;
}

/** Takes times that the zone's offset has been added to, so that the platform's own zones are not needed. */
function formatUtc(timeMs: number, parts: Intl.DateTimeFormatOptions): string {
  return new Intl.DateTimeFormat('en-US', { timeZone: 'UTC', ...parts }).format(timeMs);
}
