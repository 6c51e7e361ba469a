/** Every order and every split of the same spans give the same counts and callers, for all that real SDKs send. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { QueryCollector } from '../../src/domain/queries/telemetry.js';
import type { TelemetryRecord } from '../../src/domain/queries/telemetry-record.js';
import {
  mapTelemetrySettings,
  ProjectRules,
  type TelemetryRules,
} from '../../src/domain/queries/telemetry-settings.js';
import { TraceIndex } from '../../src/domain/queries/trace-index.js';
import { readAll, returned } from '../support/http/telemetry-reading.js';
import { IdentityMemory } from '../support/identity-memory.js';
import { joined, samples, spansOf } from '../support/sdk-samples.js';
import { randomCases } from '../support/volume.js';

const nowMs = Date.parse('2026-06-15T12:00:00Z');
const noOwn = mapTelemetrySettings(() => null);

function callersOf(requests: readonly (readonly TelemetryRecord[])[], rules: TelemetryRules): string[] {
  const [memory, index] = [new IdentityMemory(), new TraceIndex(10_000_000)];
  for (const records of requests) {
    const collector = new QueryCollector(rules, { project: 'docs', nowMs, rowsFrom: null }, index);
    for (const record of records) collector.add(record);
    const { queries } = returned(collector.result());
    memory.record(queries);
    for (const { noteRecorded } of queries) noteRecorded();
  }
  return memory.callers().sort();
}

/** In any order, and cut at any places. */
const anyRequests = (records: readonly TelemetryRecord[]) =>
  fc
    .tuple(
      fc.shuffledSubarray([...records], { minLength: records.length }),
      fc.array(fc.nat({ max: records.length })),
    )
    .map(([sent, cuts]) => {
      const from = [0, ...cuts.toSorted((a, b) => a - b)];
      return from.map((begin, at) => sent.slice(begin, from[at + 1]));
    });

test.each(
  samples.filter(({ requests }) => requests.length > 0).map((sample) => [sample.setup, sample] as const),
)('%s', (_, sample) => {
  const body = Buffer.from(JSON.stringify(joined(spansOf(sample, nowMs))));
  const { records } = readAll('traces', 'application/json', body);
  const rules = new ProjectRules().find({ ...noOwn, ...sample.settings });
  const callers = callersOf([records], rules);
  const one = records.map((record) => [record]);
  expect(callersOf(one, rules)).toEqual(callers);
  expect(callersOf(one.toReversed(), rules)).toEqual(callers);
  const law = fc.property(anyRequests(records), (requests) => {
    expect(callersOf(requests, rules)).toEqual(callers);
  });
  fc.assert(law, { numRuns: randomCases(50) });
});
