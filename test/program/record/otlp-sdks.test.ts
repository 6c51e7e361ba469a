/**
 * What real SDKs send counts as it should: as the application that it was captured from was counted by a person, also
 * what no rule can know, once the application does what helps.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Service, sharedService, startMs } from '../../support/http/http.js';
import { helpedSamples } from '../../support/sdk-helped.js';
import { joined, type Sample, samples, spansOf, type TraceRequest } from '../../support/sdk-samples.js';
import { by, projectOf } from '../../support/storage/store.js';
import { randomCases } from '../../support/volume.js';

const countedOf = ({ correct, unaided }: Sample) => unaided?.counted ?? correct;

let projects = 0;

/** Sends the requests to a new project, and expects that it has what is to be counted then. */
async function expectCounted(
  { send, keys, store }: Service,
  sample: Sample,
  requests: readonly TraceRequest[],
): Promise<void> {
  const id = `sample-${++projects}`;
  await store.directory.createProject(projectOf(id, { createdAt: startMs, ...sample.settings }), by);
  for (const request of requests) {
    const headers = { 'content-type': 'application/json', 'caller-stats-project': id };
    const body = JSON.stringify(request);
    const answer = await send({ method: 'POST', path: '/v1/traces', key: keys.admin, headers, body });
    expect(answer.text).toBe('{}');
  }
  const { text } = await send({ path: `/v1/analytics/${id}/assistant/callers` });
  const { callers } = JSON.parse(text) as { callers: { caller: string; count: number }[] };
  const counts = Object.fromEntries(callers.map(({ caller, count }) => [caller, count]));
  const total = callers.reduce((sum, { count }) => sum + count, 0);
  const expected = countedOf(sample);
  expect(typeof expected === 'number' ? total : counts, sample.setup).toEqual(expected);
}

const shared = sharedService();
const all = [...samples, ...helpedSamples];

test.each(all.map((sample) => [sample.setup, sample] as const))('%s', async (_, sample) => {
  await expectCounted(shared(), sample, [joined(spansOf(sample, startMs))]);
});

test('the spans of a query count once, whatever their order and requests, and however often they are sent', async () => {
  const deliveries = fc.constantFrom(...all).chain((sample) => {
    const spans = spansOf(sample, startMs);
    const some = fc.shuffledSubarray(spans);
    const whole = fc.shuffledSubarray(spans, { minLength: spans.length });
    return fc.record({ sample: fc.constant(sample), some, all: whole, size: fc.integer({ min: 1, max: 6 }) });
  });
  const run = async ({
    sample,
    some,
    all,
    size,
  }: {
    sample: Sample;
    some: TraceRequest[];
    all: TraceRequest[];
    size: number;
  }) => {
    const sent = [...some, ...all];
    const requests = Array.from({ length: Math.ceil(sent.length / size) }, (_, at) =>
      joined(sent.slice(at * size, (at + 1) * size)),
    );
    await expectCounted(shared(), sample, requests);
  };
  await fc.assert(fc.asyncProperty(deliveries, run), { numRuns: randomCases(250) });
});
