import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Load,
  type LoadLimits,
  type RequestKind,
  readDelayFactor,
  refusalReason,
} from '../../../src/domain/admission.js';

const limits: LoadLimits = {
  recordingsMax: 3,
  recordingBytesMax: 100,
  requestsMax: 5,
  accountRequestsMax: 2,
  eventLoopDelayMsMax: 50,
};
const idle: Load = {
  recordings: 0,
  recordingBytes: 0,
  requests: 0,
  accountRequests: 0,
  eventLoopDelayMs: 0,
};
const works: readonly RequestKind[] = ['probe', 'recording', 'account', 'reading'];
const refused = (load: Partial<Load>): readonly RequestKind[] =>
  works.filter((work) => refusalReason(work, { ...idle, ...load }, limits) !== undefined);

describe('refused is', () => {
  test.each<[what: string, load: Partial<Load>, refused: readonly RequestKind[]]>([
    ['recording, where as many are under way as may be', { recordings: 3 }, ['recording']],
    ['recording, where so many bytes are', { recordingBytes: 100 }, ['recording']],
    ['recording, where the event loop is late', { eventLoopDelayMs: 50.1 }, ['recording']],
    [
      'all but probes, where it is very late',
      { eventLoopDelayMs: 50 * readDelayFactor + 1 },
      ['recording', 'account', 'reading'],
    ],
    [
      'recording alone, where it is as late as reads wait for',
      { eventLoopDelayMs: 50 * readDelayFactor },
      ['recording'],
    ],
    [
      'all but recording and probes, where as many are under way as may be',
      { requests: 5 },
      ['account', 'reading'],
    ],
    ['a change by way of the dashboard, where as many are under way', { accountRequests: 2 }, ['account']],
  ])('%s', (_what, load, expected) => {
    expect(refused(load)).toEqual(expected);
  });

  test.each<[what: string, load: Partial<Load>]>([
    ['nothing to do', {}],
    [
      'one less of everything than may be',
      { recordings: 2, recordingBytes: 99, requests: 4, accountRequests: 1 },
    ],
    ['an event loop as late as it may be', { eventLoopDelayMs: 50 }],
  ])('nothing, with %s', (_what, load) => {
    expect(refused(load)).toEqual([]);
  });
});

const counts = fc.nat({ max: 200 });
const loads = fc.record({
  recordings: counts,
  recordingBytes: counts,
  requests: counts,
  accountRequests: counts,
  eventLoopDelayMs: fc.double({ min: 0, max: 1000, noNaN: true }),
});

test('a probe is never refused, and recording alone refuses no read, whatever the load', () => {
  fc.assert(
    fc.property(loads, (load) => {
      expect(refusalReason('probe', load, limits)).toBeUndefined();
      const recordingAlone = { ...idle, recordings: load.recordings, recordingBytes: load.recordingBytes };
      expect(refusalReason('reading', recordingAlone, limits)).toBeUndefined();
    }),
  );
});

test('what is refused at a load is refused at every greater one', () => {
  fc.assert(
    fc.property(fc.constantFrom(...works), loads, loads, (work, load, more) => {
      const greater = Object.fromEntries(
        Object.entries(load).map(([name, value]) => [name, value + more[name as keyof Load]]),
      ) as unknown as Load;
      if (refusalReason(work, load, limits) !== undefined)
        expect(refusalReason(work, greater, limits)).toBeDefined();
    }),
  );
});
