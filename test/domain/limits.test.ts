/** Limits that are written as products in the code, with the values in the docs. */
import { expect, test } from 'vitest';
import * as limits from '../../src/domain/limits.js';
import { dayMs } from '../../src/domain/time/duration.js';

test.each<[string, number, number]>([
  ['a body has at most 10 MiB', limits.bodyBytesMax, 10_485_760],
  ['a query is at most a day in the future', limits.occurredAtAheadMsMax, dayMs],
  ['failed sign-ins are forgotten after 15 minutes', limits.guessWindowSeconds, 900],
  ['a browser is recognized for a year', limits.deviceCookieSeconds, 31_536_000],
  ['an unused session lasts a week', limits.sessionSecondsMax, 604_800],
  ['a code of a connected application works for a minute', limits.applicationCodeSeconds, 60],
  ['a token of one reads for an hour', limits.applicationAccessSeconds, 3_600],
  ['a renewed token works for another minute', limits.applicationGraceSeconds, 60],
  ['a connection lasts 90 days without use', limits.applicationLifeSeconds, 7_776_000],
  ['a connection lasts a year in any case', limits.applicationConnectionSeconds, 31_536_000],
  ['a dashboard request has at most 16 KiB', limits.dashboardBodyBytesMax, 16_384],
  ['headers have at most 16 KiB', limits.headerBytesMax, 16_384],
  ['concurrent recordings have at most 64 MiB', limits.recordingBytesMax, 67_108_864],
  ['a line of a body has at most 64 KiB', limits.lineBytesMax, 65_536],
  ['a record of an import has at most 1 MiB', limits.importRecordBytesMax, 1_048_576],
])('%s', (_what, limit, stated) => {
  expect(limit).toBe(stated);
});
