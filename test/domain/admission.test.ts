import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Load,
  type LoadLimits,
  type RequestKind,
  readDelayFactor,
  refusalReason,
} from '../../src/domain/admission.js';

const limits: LoadLimits = {
  recordingsMax: 3,
  recordingBytesMax: 100,
  correctionsBytesMax: 100,
  requestsMax: 5,
  unreadBytesMax: 1000,
  eventLoopDelayMsMax: 50,
};
const idle: Load = {
  recordings: 0,
  recordingBytes: 0,
  correctionsBytes: 0,
  requests: 0,
  unreadBytes: 0,
  eventLoopDelayMs: 0,
};
const works: readonly RequestKind[] = ['probe', 'recording', 'visiting', 'reading'];
const refused = (load: Partial<Load>): readonly RequestKind[] =>
  works.filter((work) => refusalReason(work, { ...idle, ...load }, limits) !== undefined);

describe('the server refuses', () => {
  test.each<[what: string, load: Partial<Load>, refused: readonly RequestKind[]]>([
    ['recordings at the limit of concurrent recordings', { recordings: 3 }, ['recording']],
    ['recordings at the limit of bytes', { recordingBytes: 100 }, ['recording']],
    ['recordings if the event loop is late', { eventLoopDelayMs: 50.1 }, ['recording']],
    [
      'everything except probes if it is very late',
      { eventLoopDelayMs: 50 * readDelayFactor + 1 },
      ['recording', 'visiting', 'reading'],
    ],
    [
      'only recordings up to the delay that reads tolerate',
      { eventLoopDelayMs: (50 * readDelayFactor) / 2 },
      ['recording'],
    ],
    ['visits at more', { eventLoopDelayMs: 50 * readDelayFactor }, ['recording', 'visiting']],
    ['reads at the limit of requests', { requests: 5 }, ['visiting', 'reading']],
    ['visits at half of it', { requests: 3 }, ['visiting']],
    ['reads at the limit of answers that nobody reads', { unreadBytes: 1000 }, ['visiting', 'reading']],
    ['visits at half of it', { unreadBytes: 500 }, ['visiting']],
    ['nothing without load', {}, []],
    ['nothing below every limit', { recordings: 2, recordingBytes: 99, requests: 2, unreadBytes: 499 }, []],
    ['nothing at the highest tolerated delay', { eventLoopDelayMs: 50 }, []],
  ])('%s', (_what, load, expected) => {
    expect(refused(load)).toEqual(expected);
  });
});

const counts = fc.nat({ max: 200 });
const loads = fc.record({
  recordings: counts,
  recordingBytes: counts,
  correctionsBytes: counts,
  requests: counts,
  unreadBytes: counts,
  eventLoopDelayMs: fc.double({ min: 0, max: 1000, noNaN: true }),
});

test('never refuses a probe, nor a read because of recordings alone', () => {
  fc.assert(
    fc.property(loads, (load) => {
      expect(refusalReason('probe', load, limits)).toBeUndefined();
      const recordingAlone = { ...idle, recordings: load.recordings, recordingBytes: load.recordingBytes };
      expect(refusalReason('reading', recordingAlone, limits)).toBeUndefined();
    }),
  );
});

test('refuses at every higher load what it refuses at a lower one', () => {
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
