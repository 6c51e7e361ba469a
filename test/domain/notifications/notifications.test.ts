import { describe, expect, test } from 'vitest';
import type { CallerCounts, Counts } from '../../../src/domain/counting/counts.js';
import type { DateRange } from '../../../src/domain/counting/date-range.js';
import { destinationCharactersMax, messageLeaseMs, messageTimeoutMs } from '../../../src/domain/limits.js';
import { CHANNEL_FORMS } from '../../../src/domain/notifications/channel.js';
import { afterFailure, messageId, messageRetryMs } from '../../../src/domain/notifications/delivery.js';
import { evaluate } from '../../../src/domain/notifications/evaluation.js';
import { writeMessage, writeTestMessage } from '../../../src/domain/notifications/message.js';
import { type Notification, parseTrigger } from '../../../src/domain/notifications/notification.js';
import { firstCheck, nextCheck } from '../../../src/domain/notifications/schedule.js';
import { callerType } from '../../../src/domain/queries/caller.js';
import { dayMs, hourMs, minuteMs } from '../../../src/domain/time/duration.js';
import { type TimeZone, UTC } from '../../../src/domain/time/time-zone.js';
import { notificationOf } from '../../support/storage/notifications.js';

const berlin = 'Europe/Berlin' as TimeZone;
const at = (text: string): number => Date.parse(text);
const iso = (timeMs: number): string => new Date(timeMs).toISOString();

const digest = { kind: 'digest', period: 'week', timeZone: UTC } as const;
const silenceOf = (more: Partial<Notification> = {}) =>
  notificationOf('n', { kind: 'silence', period: null, hours: 3, ...more });
const spikeOf = (more: Partial<Notification> = {}) =>
  notificationOf('n', { kind: 'spike', period: null, factor: 3, minimum: 20, ...more });

describe('a trigger', () => {
  test.each([
    [{ kind: 'digest', timeZone: UTC }, ['period: a digest needs it']],
    [{ ...digest, hours: 3 }, ['hours: a digest has none; leave it out']],
    [{ kind: 'silence', timeZone: UTC }, ['hours: a silence needs it']],
    [{ kind: 'silence', hours: 0, timeZone: UTC }, ['hours: is not a whole number from 1 to 744']],
    [{ kind: 'silence', hours: 1.5, timeZone: UTC }, ['hours: is not a whole number from 1 to 744']],
    [{ kind: 'silence', hours: Number.NaN, timeZone: UTC }, ['hours: is not a whole number from 1 to 744']],
    [
      { kind: 'spike', factor: 1, minimum: 0, timeZone: UTC },
      ['factor: is not a whole number from 2 to 100', 'minimum: is not a whole number from 1 to 1,000,000'],
    ],
    [
      { kind: 'threshold', factor: 2, timeZone: UTC },
      ['factor: a threshold has none; leave it out', 'minimum: a threshold needs it'],
    ],
    [{ kind: 'new_caller', hours: 2, timeZone: UTC }, ['hours: a new caller has none; leave it out']],
  ] as const)('is refused: %j', (request, problems) => {
    expect(parseTrigger(request)).toEqual({ ok: false, problems });
  });

  test('has the fields of its kind', () => {
    const none = { period: null, hours: null, factor: null, minimum: null };
    expect(parseTrigger(digest)).toEqual({ ok: true, value: { ...none, ...digest } });
    const spike = { kind: 'spike', factor: 3, minimum: 20, timeZone: berlin } as const;
    expect(parseTrigger(spike)).toEqual({ ok: true, value: { ...none, ...spike } });
  });
});

describe('a destination', () => {
  const strict = { allowsHttp: false };
  test.each([
    ['webhook', 'nonsense', 'is not an address that begins with https://'],
    ['webhook', 'http://hooks.example.org', expect.stringMatching(/^is not .*--notification-networks$/)],
    ['teams', 'http://10.0.0.1', expect.stringMatching(/^is not .*--notification-networks$/)],
    ['discord', 'nonsense', 'is not an address that begins with https://'],
    ['slack', 'ftp://hooks.example.org', 'is not an address that begins with https://'],
    ['webhook', 'file:///etc/passwd', 'is not an address that begins with https://'],
    [
      'webhook',
      'https://user:secret@hooks.example.org',
      'contains a user name or password; webhooks are signed instead',
    ],
    ['webhook', `https://a.example/${'x'.repeat(destinationCharactersMax)}`, 'has more than 2000 characters'],
    ['email', 'nobody', 'is not an e-mail address'],
    ['email', 'a@example.org, b@example.org', 'is not an e-mail address'],
    ['email', 'a@example.org\r\nBcc: b@example.org', 'is not an e-mail address'],
  ] as const)('is refused: %s %s', (channel, text, problem) => {
    expect(CHANNEL_FORMS[channel].parseDestination(text, strict)).toEqual({ ok: false, problems: [problem] });
  });

  test('shows its host or its address, and never the path', () => {
    const url = 'https://hooks.slack.com/services/T0/B0/secret';
    expect(CHANNEL_FORMS['slack'].parseDestination(url, strict)).toEqual({
      ok: true,
      value: { to: url, shown: 'hooks.slack.com' },
    });
    expect(CHANNEL_FORMS['email'].parseDestination('Ada@Example.org', strict)).toEqual({
      ok: true,
      value: { to: 'ada@example.org', shown: 'ada@example.org' },
    });
    expect(
      CHANNEL_FORMS['webhook'].parseDestination('http://10.0.0.1:8080/x', { allowsHttp: true }),
    ).toMatchObject({
      value: { shown: '10.0.0.1:8080' },
    });
  });
});

describe('the schedule', () => {
  test('makes digests six hours after the end of the week or month in the time zone', () => {
    const weekly = notificationOf('n', { timeZone: berlin });
    expect(iso(nextCheck(weekly, null, at('2026-11-18T12:00:00Z')))).toBe('2026-11-23T05:00:00.000Z');
    expect(iso(nextCheck(weekly, null, at('2026-11-23T04:59:59.999Z')))).toBe('2026-11-23T05:00:00.000Z');
    expect(iso(nextCheck(weekly, null, at('2026-11-23T05:00:00Z')))).toBe('2026-11-30T05:00:00.000Z');
    const monthly = notificationOf('n', { period: 'month', timeZone: berlin });
    expect(iso(nextCheck(monthly, null, at('2026-06-30T23:00:00Z')))).toBe('2026-07-01T04:00:00.000Z');
  });

  test('checks silence every ten minutes, for the first time after its hours', () => {
    const now = at('2026-11-18T12:03:00Z');
    expect(iso(nextCheck(silenceOf(), null, now))).toBe('2026-11-18T12:10:00.000Z');
    expect(iso(firstCheck(silenceOf(), null, now))).toBe('2026-11-18T15:10:00.000Z');
    expect(iso(firstCheck(silenceOf(), null, at('2026-11-18T12:00:00Z')))).toBe('2026-11-18T15:00:00.000Z');
  });

  test('checks for a spike five minutes after each hour of the zone', () => {
    expect(iso(nextCheck(spikeOf(), null, at('2026-11-18T12:03:00Z')))).toBe('2026-11-18T12:05:00.000Z');
    expect(iso(nextCheck(spikeOf(), null, at('2026-11-18T12:05:00Z')))).toBe('2026-11-18T13:05:00.000Z');
    const india = spikeOf({ timeZone: 'Asia/Kolkata' as TimeZone });
    expect(iso(nextCheck(india, null, at('2026-11-18T12:05:00Z')))).toBe('2026-11-18T12:35:00.000Z');
  });

  test('tries again for about a day, with pauses that grow', () => {
    expect(messageRetryMs).toEqual([...messageRetryMs].toSorted((a, b) => a - b));
    const totalMs = messageRetryMs.reduce((sum, one) => sum + one, 0);
    expect(totalMs).toBeGreaterThan(20 * hourMs);
    expect(totalMs).toBeLessThan(dayMs);
    expect(afterFailure(1, 'no', 0)).toEqual({ state: 'pending', nextAt: minuteMs, error: 'no' });
    expect(afterFailure(messageRetryMs.length, 'no', 0)).toMatchObject({ nextAt: 12 * hourMs });
    expect(afterFailure(messageRetryMs.length + 1, 'no', 0)).toEqual({ state: 'failed', error: 'no' });
    // A node that is still sending never loses its lease.
    expect(messageLeaseMs).toBeGreaterThan(2 * messageTimeoutMs);
  });

  test('names a message by its notification and occurrence', () => {
    expect(messageId('n', 'a')).toMatch(/^msg_[\w-]{32}$/);
    expect(messageId('n', 'a')).toBe(messageId('n', 'a'));
    expect(messageId('n', 'b')).not.toBe(messageId('n', 'a'));
    expect(messageId('m', 'a')).not.toBe(messageId('n', 'a'));
  });
});

/** Counts queries of type web at these times. */
const readerOf = (times: readonly number[], callerOf: (time: number) => string = () => 'web') => ({
  weekStart: null,
  countCallers: async ({ from, to }: DateRange): Promise<CallerCounts> => {
    const callers = times.filter((one) => one >= from && one < to).map(callerOf);
    const counted = [...new Set(callers)].map((caller) => ({
      caller,
      type: callerType(caller),
      count: callers.filter((one) => one === caller).length,
    }));
    return { callers: counted, total: callers.length };
  },
  count: async ({ from, to }: DateRange): Promise<Counts> => {
    const total = times.filter((one) => one >= from && one < to).length;
    return { web: total, api: 0, other: 0, total };
  },
  findExtent: async () =>
    times.length === 0 ? undefined : { from: Math.min(...times), to: Math.max(...times) + 1 },
});

test('a weekly digest is about the weeks of the project', async () => {
  const weekly = notificationOf('n', { timeZone: berlin });
  const now = at('2026-11-18T12:00:00Z');
  expect(iso(nextCheck(weekly, 'sunday', now))).toBe('2026-11-22T05:00:00.000Z');
  expect(iso(nextCheck(weekly, 'saturday', now))).toBe('2026-11-21T05:00:00.000Z');
  const reader = {
    ...readerOf([at('2026-11-08T12:00:00Z'), at('2026-11-14T23:30:00Z')]),
    weekStart: 'sunday',
  } as const;
  const { finding } = await evaluate(weekly, at('2026-11-22T05:00:00Z'), reader);
  expect(finding?.notice).toMatchObject({
    range: { from: at('2026-11-14T23:00:00Z'), to: at('2026-11-21T23:00:00Z') },
    counts: { total: 1 },
    previous: { total: 1 },
    comparedFrom: at('2026-11-07T23:00:00Z'),
    recordingBegan: at('2026-11-08T12:00:00Z'),
  });
});

test.each([
  [[0], null],
  [[0, '2026-11-20T12:00:00.123Z'], at('2026-11-20T12:00:00.123Z')],
  [[0, '2026-11-20T12:00:00.124Z', '2026-11-20T12:00:00.123Z', '2027-01-01'], at('2026-11-20T12:00:00.123Z')],
] as const)(
  'a digest of queries at %j does not take a doubtful time for the beginning',
  async (times, began) => {
    const reader = readerOf(times.map((one) => new Date(one).getTime()));
    const { finding } = await evaluate(notificationOf('n'), at('2026-11-23T06:00:00Z'), reader);
    expect(finding?.notice).toMatchObject({ recordingBegan: began });
  },
);

describe('a spike', () => {
  const now = at('2026-11-18T12:05:00Z');
  const hour = at('2026-11-18T11:00:00Z');
  const week = 7 * dayMs;
  const many = (count: number, from: number): number[] =>
    Array.from({ length: count }, (_, one) => from + one);
  /** The hours of the four weeks before have 2, 4, 6 and 100 queries: the median is 5. */
  const history = [
    hour - 5 * week,
    ...many(2, hour - week),
    ...many(4, hour - 2 * week),
    ...many(6, hour - 3 * week),
    ...many(100, hour - 4 * week),
  ];
  const check = async (more: Partial<Notification>, last: number, before = history) =>
    (await evaluate(spikeOf({ minimum: 1, ...more }), now, readerOf([...before, ...many(last, hour)])))
      .finding?.notice;

  test('has at least the factor times the median, and the minimum', async () => {
    expect(await check({}, 14)).toBeUndefined();
    expect(await check({}, 15)).toMatchObject({ type: 'spike', usual: 5, counts: { total: 15 } });
    expect(await check({ minimum: 16 }, 15)).toBeUndefined();
    expect(await check({ minimum: 15 }, 15)).toBeDefined();
    // Queries of the running hour do not count.
    expect(await check({}, 0, [...history, ...many(50, at('2026-11-18T12:00:00Z'))])).toBeUndefined();
  });

  test('is none in a project that is younger than four weeks', async () => {
    const young = history.filter((one) => one > hour - 4 * week);
    expect(await check({}, 500, young)).toBeUndefined();
    expect(await check({}, 500, [])).toBeUndefined();
    // One query of a wrong clock does not make it older.
    expect(
      await check({}, 500, [at('1970-01-01T00:00:00Z'), ...young.filter((one) => one > hour - 3 * week)]),
    ).toBeUndefined();
  });

  test('compares with hours of the same local time when the clocks change', async () => {
    // Berlin left summer time on October 25: 12:00 was 10:00 UTC before, and is 11:00 UTC now.
    const local = [hour - 5 * week, ...[1, 2].flatMap((ago) => many(10, hour - ago * week))];
    const summer = [3, 4]
      .map((ago) => at('2026-11-18T10:00:00Z') - ago * week)
      .filter((one) => one < at('2026-10-25T01:00:00Z'));
    const times = [...local, ...many(10, hour - 3 * week), ...summer.flatMap((one) => many(10, one))];
    const { finding } = await evaluate(
      spikeOf({ timeZone: berlin, minimum: 1 }),
      now,
      readerOf([...times, ...many(30, hour)]),
    );
    expect(finding?.notice).toMatchObject({ usual: 10 });
  });

  test('is reported once, until an hour is back to normal', async () => {
    const times = [...history, ...many(50, hour)];
    const first = await evaluate(spikeOf(), now, readerOf(times));
    expect(first).toMatchObject({ incidentAt: hour, finding: { occurrence: `spike from ${iso(hour)}` } });
    const second = await evaluate(spikeOf({ incidentAt: hour - hourMs }), now, readerOf(times));
    expect(second).toEqual({ incidentAt: hour - hourMs, finding: null });
    const over = await evaluate(spikeOf({ incidentAt: hour - hourMs }), now, readerOf(history));
    expect(over).toEqual({ incidentAt: null, finding: null });
  });
});

describe('an alert about the last hour', () => {
  const now = at('2026-11-18T12:05:00Z');
  const hour = at('2026-11-18T11:00:00Z');
  const week = 7 * dayMs;
  const many = (count: number, from: number): number[] =>
    Array.from({ length: count }, (_, one) => from + one);
  const usual = [hour - 5 * week, ...[1, 2, 3, 4].flatMap((ago) => many(20, hour - ago * week))];
  const check = async (more: Partial<Notification>, times: readonly number[]) => {
    const alert = notificationOf('n', { period: null, ...more });
    return evaluate(alert, now, readerOf(times));
  };

  test('that had fewer queries than usual begins at the usual divided by the factor, and not where little is usual', async () => {
    const drop = { kind: 'drop', factor: 4, minimum: 20 } as const;
    const of = (more: Partial<Notification>, last: number) =>
      check({ ...drop, ...more }, [...usual, ...many(last, hour)]);
    expect(await of({}, 6)).toEqual({ incidentAt: null, finding: null });
    expect(await of({}, 5)).toMatchObject({
      incidentAt: hour,
      finding: { occurrence: `drop from ${iso(hour)}`, notice: { usual: 20, counts: { total: 5 } } },
    });
    expect(await of({}, 0)).toMatchObject({ incidentAt: hour });
    expect(await of({ minimum: 21 }, 0)).toEqual({ incidentAt: null, finding: null });
    expect(await of({ incidentAt: 7 }, 0)).toEqual({ incidentAt: 7, finding: null });
    expect((await check(drop, many(1, hour - 2 * week))).finding).toBeNull();
  });

  test('that had a number of queries needs no history', async () => {
    const threshold = { kind: 'threshold', minimum: 3 } as const;
    expect((await check(threshold, many(2, hour))).finding).toBeNull();
    expect(await check(threshold, many(3, hour))).toMatchObject({
      incidentAt: hour,
      finding: { occurrence: `threshold from ${iso(hour)}`, notice: { counts: { total: 3 } } },
    });
    expect((await check(threshold, many(3, hour + hourMs))).finding).toBeNull();
  });

  test('names callers whose first query occurred in it', async () => {
    const alert = notificationOf('n', { kind: 'new_caller', period: null });
    const named = async (...callers: readonly (readonly [caller: string, time: number])[]) => {
      const reader = readerOf(
        callers.map(([, time]) => time),
        (time) => callers.find((one) => one[1] === time)?.[0] ?? '',
      );
      const { finding } = await evaluate(alert, now, reader);
      return finding?.notice.type === 'new_caller' ? finding.notice.callers.map(({ caller }) => caller) : [];
    };
    expect(await named(['slack', 0], ['slack', hour])).toEqual([]);
    expect(await named(['slakc', hour], ['slack', hour + 1], ['slack', hour - 1])).toEqual(['slakc']);
    expect(await named(['late', hour + hourMs], ['web', hour])).toEqual(['web']);
  });
});

describe('a silence', () => {
  const now = at('2026-11-18T12:04:00Z');
  const checked = at('2026-11-18T12:00:00Z');

  test('begins after its hours, is reported once, and its end is reported once', async () => {
    const last = checked - 3 * hourMs;
    expect(await evaluate(silenceOf(), now, readerOf([last]))).toEqual({ incidentAt: null, finding: null });
    const found = await evaluate(silenceOf(), now, readerOf([last - 1]));
    expect(found).toMatchObject({
      incidentAt: checked,
      finding: { occurrence: `silence at ${iso(checked)}`, notice: { type: 'silence', lastAt: last - 1 } },
    });
    const silent = silenceOf({ incidentAt: checked - hourMs });
    expect(await evaluate(silent, now, readerOf([last - 1]))).toEqual({
      incidentAt: checked - hourMs,
      finding: null,
    });
    const ended = await evaluate(silent, now, readerOf([checked - 1]));
    expect(ended).toMatchObject({
      incidentAt: null,
      finding: {
        occurrence: `end of silence at ${iso(checked - hourMs)}`,
        notice: { type: 'silence_end', counts: { total: 1 } },
      },
    });
  });

  test('may be of a project that never had a query', async () => {
    const { finding } = await evaluate(silenceOf(), now, readerOf([]));
    expect(finding?.notice).toMatchObject({ type: 'silence', lastAt: null });
  });
});

describe('a message', () => {
  const context = (notification: Notification, link?: string) => ({
    project: { id: 'docs', name: 'Docs' },
    notification,
    nowMs: at('2026-11-23T05:00:00Z'),
    link,
  });
  const weekly = notificationOf('n', { timeZone: berlin, createdBy: 'ada@example.org' });
  const countsOf = (web: number, api = 0, other = 0): Counts => ({
    web,
    api,
    other,
    total: web + api + other,
  });
  const range = { from: at('2026-11-15T23:00:00Z'), to: at('2026-11-22T23:00:00Z') };
  const comparedFrom = at('2026-11-08T23:00:00Z');
  const digestOf = (counts: Counts, previous: Counts, recordingBegan: number | null = comparedFrom) =>
    writeMessage(
      { type: 'digest', range, counts, previous, comparedFrom, recordingBegan },
      context(weekly, 'https://stats.example.org/x'),
    );

  test('of a digest names range, time zone, counts and comparison', () => {
    const { title, text, data, timestamp } = digestOf(countsOf(800, 300, 134), countsOf(1102));
    expect(title).toBe('Docs: 1,234 queries in the week from November 16, 2026');
    expect(text).toBe(
      [
        'Docs recorded 1,234 queries from Monday, November 16, 2026, 00:00 to Monday, November 23, 2026, 00:00 (Europe/Berlin).',
        'By caller: web 800, api 300, other 134; 1,234 in total.',
        'That is 12% more than in the week before, which had 1,102.',
        'https://stats.example.org/x',
        'ada@example.org set up this message: weekly digest.',
      ].join('\n\n'),
    );
    expect(timestamp).toBe('2026-11-23T05:00:00.000Z');
    expect(data).toEqual({
      project: { id: 'docs', name: 'Docs' },
      timeZone: 'Europe/Berlin',
      dateFrom: '2026-11-16T00:00:00.000+01:00',
      dateTo: '2026-11-23T00:00:00.000+01:00',
      counts: countsOf(800, 300, 134),
      previous: { counts: countsOf(1102) },
      link: 'https://stats.example.org/x',
    });
  });

  test.each([
    [0, 0, 'There were none in the week before either.'],
    [5, 0, 'There were none in the week before.'],
    [5, 5, 'That is as many as in the week before.'],
    [1, 2, 'That is 50% fewer than in the week before, which had 2.'],
    [0, 2, 'That is 100% fewer than in the week before, which had 2.'],
    [1001, 1000, 'That is 0.1% more than in the week before, which had 1,000.'],
    [1, 10_000, 'That is 99.99% fewer than in the week before, which had 10,000.'],
  ])('compares %i with %i in words, without percentages of zero', (now, before, sentence) => {
    expect(digestOf(countsOf(now), countsOf(before)).text).toContain(sentence);
  });

  test('does not compare with a week within which recording began', () => {
    const began = at('2026-11-08T23:00:00.001Z');
    expect(digestOf(countsOf(5), countsOf(1), began).text).toContain(
      'It cannot be compared with the week before: recording began on Nov 9, 2026.',
    );
    expect(digestOf(countsOf(5), countsOf(0), began).text).toContain('It cannot be compared');
    expect(digestOf(countsOf(0), countsOf(0), null).text).toContain('There were none');
  });

  test('of a silence says since when, and of its end how many queries came', () => {
    const silence = silenceOf({ timeZone: berlin });
    const hours = { from: at('2026-11-18T08:00:00Z'), to: at('2026-11-18T11:00:00Z') };
    const begun = writeMessage(
      { type: 'silence', range: hours, lastAt: at('2026-11-18T07:59:59.9Z') },
      context(silence),
    );
    expect(begun.title).toBe('Docs: nothing recorded for 3 hours');
    expect(begun.text).toContain(
      'from Wednesday, November 18, 2026, 09:00 to Wednesday, November 18, 2026, 12:00 (Europe/Berlin)',
    );
    expect(begun.text).toContain(
      'The last query before that occurred on Wednesday, November 18, 2026, 08:59.',
    );
    const ended = writeMessage({ type: 'silence_end', range: hours, counts: countsOf(1) }, context(silence));
    expect(ended.title).toBe('Docs: queries are recorded again');
    expect(ended.text).toContain('Docs recorded 1 query from');
  });

  test('of a spike names what is usual', () => {
    const hour = { from: at('2026-11-18T11:00:00Z'), to: at('2026-11-18T12:00:00Z') };
    const report = { type: 'spike', range: hour, counts: countsOf(33), usual: 4.5 } as const;
    const { title, text } = writeMessage(report, context(spikeOf()));
    expect(title).toBe('Docs: 33 queries in one hour');
    expect(text).toContain(
      'The usual number is 4.5 (median of the same hour in the four weeks before). The hour had 7.3 times as many.',
    );
    expect(writeMessage({ ...report, usual: 0 }, context(spikeOf())).text).not.toContain('times as many');
  });

  test('of other alerts about an hour says what it found', () => {
    const range = { from: at('2026-11-18T11:00:00Z'), to: at('2026-11-18T12:00:00Z') };
    const counts = countsOf(3);
    const ofKind = (kind: 'drop' | 'threshold' | 'new_caller') =>
      context(notificationOf('n', { kind, period: null, factor: 4, minimum: 2 }));
    const drop = writeMessage({ type: 'drop', range, counts, usual: 20 }, ofKind('drop'));
    expect(drop.title).toBe('Docs: 3 queries in one hour, usually 20');
    expect(drop.text).toContain('set up this message: 1/4 of the usual, where that is at least 2 an hour.');
    const threshold = writeMessage({ type: 'threshold', range, counts }, ofKind('threshold'));
    expect(threshold.text).toContain('at least 2.');
    const callers = Array.from(
      { length: 12 },
      (_, one) => ({ caller: `c${one}`, type: 'other', count: 1 }) as const,
    );
    const first = writeMessage(
      { type: 'new_caller', range, counts, callers: callers.slice(0, 1) },
      ofKind('new_caller'),
    );
    expect(first.title).toBe('Docs: first queries from c0');
    const several = writeMessage({ type: 'new_caller', range, counts, callers }, ofKind('new_caller'));
    expect(several.title).toBe('Docs: first queries from 12 callers');
    expect(several.text).toContain('c9 1, and 2 more callers.');
  });

  test('to test says so', () => {
    const { type, title, text } = writeTestMessage(context(weekly));
    expect({ type, title }).toEqual({ type: 'test', title: 'Docs: test message' });
    expect(text).toContain('This is a test message for Docs.');
  });
});
