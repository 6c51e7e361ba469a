/** Limits that the code writes as products, as the docs state them. */
import { expect, test } from 'vitest';
import * as limits from '../../../src/domain/limits.js';

test.each<[string, number, number]>([
  ['a body has 10 MiB at most', limits.bodyBytesMax, 10_485_760],
  ['a query lies a day ahead at most', limits.occurredAtAheadMsMax, 86_400_000],
  ['failed sign-ins are forgotten after 15 minutes', limits.guessWindowSeconds, 900],
  ['a browser is known for a year', limits.deviceCookieSeconds, 31_536_000],
  ['a session lasts a week unused', limits.sessionSecondsMax, 604_800],
  ['a body of the dashboard has 16 KiB at most', limits.dashboardBodyBytesMax, 16_384],
  ['headers have 16 KiB at most', limits.headerBytesMax, 16_384],
  ['levels of JSON are counted from 1 MiB on', limits.jsonLevelsCountedBytesMin, 1_048_576],
  ['recordings under way have 64 MiB at most', limits.recordingBytesMax, 67_108_864],
  ['a line of a body or an import has 64 KiB at most', limits.lineBytesMax, 65_536],
])('%s', (_what, limit, stated) => {
  expect(limit).toBe(stated);
});
