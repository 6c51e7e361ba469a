/** Notifications of a project: rules that send a message. */
import { formatCount } from '../format.js';
import { silenceHoursMax, spikeFactorMax, spikeFactorMin, spikeMinimumMax } from '../limits.js';
import { failure, type Result, success } from '../result.js';
import type { TimeZone } from '../time/time-zone.js';
import { CHANNEL_FORMS, type Channel } from './channel.js';

/**
 * `digest`: a summary. `silence`: nothing was recorded. Of the last full hour: `spike`: more queries than usual, `drop`: fewer,
 * `threshold`: as many as a fixed number, `new_caller`: the first query of a caller.
 */
export const NOTIFICATION_KINDS = ['digest', 'silence', 'spike', 'drop', 'threshold', 'new_caller'] as const;

export type NotificationKind = (typeof NOTIFICATION_KINDS)[number];

export const DIGEST_PERIODS = ['week', 'month'] as const;

export type DigestPeriod = (typeof DIGEST_PERIODS)[number];

/** When to send a message. The fields of other kinds are null. */
export interface Trigger {
  readonly kind: NotificationKind;
  /** Of a digest. */
  readonly period: DigestPeriod | null;
  /** Of a silence: hours without a query. */
  readonly hours: number | null;
  /** Of a spike: how many times the usual number of an hour. Of a drop: the usual divided by this. */
  readonly factor: number | null;
  /** The least number of queries: of the hour, or for a drop, of a usual hour. */
  readonly minimum: number | null;
  /** Whose weeks, months and hours count, and which the messages show. */
  readonly timeZone: TimeZone;
}

export interface Notification extends Trigger {
  readonly id: string;
  readonly organizationId: string;
  readonly projectId: string;
  readonly channel: Channel;
  /** Where messages go, encrypted. */
  readonly destination: string;
  /** The part of the destination that members may see: the host of a URL, or an e-mail address. */
  readonly shownDestination: string;
  readonly createdBy: string;
  /** Milliseconds since 1970, as all times here. */
  readonly createdAt: number;
  /** When it is checked next. Two nodes that check at once both expect this value, so only one changes it. */
  readonly checkAt: number;
  /** When what a message reported was found, such as a silence; null if there is none, or if it is over. */
  readonly incidentAt: number | null;
}

/** Where messages go, as it is encrypted. */
export interface Destination {
  /** The URL of a webhook or of Slack, or an e-mail address. */
  readonly to: string;
  /** Signs the messages of a webhook. */
  readonly secret?: string;
}

/** The fields of a trigger as somebody wrote them. */
export interface TriggerRequest {
  readonly kind: NotificationKind;
  readonly period?: DigestPeriod | undefined;
  readonly hours?: number | undefined;
  readonly factor?: number | undefined;
  readonly minimum?: number | undefined;
  readonly timeZone: TimeZone;
}

type Field = 'period' | 'hours' | 'factor' | 'minimum';

const FIELDS: Readonly<Record<NotificationKind, readonly Field[]>> = {
  digest: ['period'],
  silence: ['hours'],
  spike: ['factor', 'minimum'],
  drop: ['factor', 'minimum'],
  threshold: ['minimum'],
  new_caller: [],
};

const KIND_NAMES: Readonly<Record<NotificationKind, string>> = {
  digest: 'a digest',
  silence: 'a silence',
  spike: 'a spike',
  drop: 'a drop',
  threshold: 'a threshold',
  new_caller: 'a new caller',
};

const RANGES = {
  hours: [1, silenceHoursMax],
  factor: [spikeFactorMin, spikeFactorMax],
  minimum: [1, spikeMinimumMax],
} as const;

/** Checks that a trigger has the fields of its kind and no others. Each problem begins with its field. */
export function parseTrigger(request: TriggerRequest): Result<Trigger> {
  const { kind, timeZone } = request;
  const problems = (['period', 'hours', 'factor', 'minimum'] as const).flatMap((field) => {
    const value = request[field];
    if (!FIELDS[kind].includes(field))
      return value === undefined ? [] : [`${field}: ${KIND_NAMES[kind]} has none; leave it out`];
    if (value === undefined) return [`${field}: ${KIND_NAMES[kind]} needs it`];
    if (field === 'period') return [];
    const [min, max] = RANGES[field];
    const isFine = typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max;
    return isFine ? [] : [`${field}: is not a whole number from ${min} to ${formatCount(max)}`];
  });
  if (problems.length > 0) return failure(...problems);
  const { period = null, hours = null, factor = null, minimum = null } = request;
  return success({ kind, period, hours, factor, minimum, timeZone });
}

const DIGEST_NAMES: Readonly<Record<DigestPeriod, string>> = {
  week: 'weekly digest',
  month: 'monthly digest',
};

function formatFraction(divisor: number): string {
  return divisor === 2 ? 'half' : `1/${divisor}`;
}

/** A trigger in words: `3 times the usual`. */
export function describeTrigger({ kind, period, hours, factor, minimum }: Omit<Trigger, 'timeZone'>): string {
  switch (kind) {
    case 'digest':
      return DIGEST_NAMES[period ?? 'month'];
    case 'silence':
      return `nothing recorded for ${hours} ${hours === 1 ? 'hour' : 'hours'}`;
    case 'spike':
      return `${factor} times the usual, at least ${formatCount(minimum ?? 0)} an hour`;
    case 'drop':
      return `${formatFraction(factor ?? 1)} of the usual, where that is at least ${formatCount(minimum ?? 0)} an hour`;
    case 'threshold':
      return `${formatCount(minimum ?? 0)} queries or more an hour`;
    case 'new_caller':
      return 'new caller';
  }
}

/** A notification for the audit log and for lists: `weekly digest by e-mail to ada@example.org`. */
export function describeNotification(
  notification: Pick<Notification, keyof Trigger | 'channel' | 'shownDestination'>,
): string {
  const { channel, shownDestination } = notification;
  return `${describeTrigger(notification)} by ${CHANNEL_FORMS[channel].name} to ${shownDestination}`;
}
