/** What the real SDKs send, kept by `test/sdks/traffic.deep.test.ts`, counts as it should with the default settings. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Service, sharedService, startMs } from '../../support/http/http.js';
import { by, projectOf } from '../../support/storage/store.js';
import { randomCases } from '../../support/volume.js';
import { root } from '../../tidy/sources.js';

/** The parts of a request that matter here. */
interface TraceRequest {
  readonly resourceSpans: readonly {
    readonly resource: object;
    readonly scopeSpans: readonly { readonly scope: object; readonly spans: readonly Span[] }[];
  }[];
}

interface Span {
  readonly startTimeUnixNano: string;
}

interface Sample {
  readonly setup: string;
  readonly correct: number;
  readonly unaided?: { readonly counted: number };
  readonly requests: readonly TraceRequest[];
}

const samples = readFileSync(join(root, 'test/samples/otlp-sdks.ndjson'), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Sample);

const countedOf = ({ correct, unaided }: Sample) => unaided?.counted ?? correct;

/** Requests with one span each. */
function spansOf({ requests }: Sample): TraceRequest[] {
  return requests
    .flatMap(({ resourceSpans }) => resourceSpans)
    .flatMap(({ resource, scopeSpans }) =>
      scopeSpans.flatMap(({ scope, spans }) =>
        spans.map((span) => ({
          resourceSpans: [
            { resource, scopeSpans: [{ scope, spans: [{ ...span, startTimeUnixNano: timeNs }] }] },
          ],
        })),
      ),
    );
}

const timeNs = `${startMs}000000`;

let projects = 0;

/** Sends the requests to a new project, and returns the number of queries that it has then. */
async function countAfter(
  { send, keys, store }: Service,
  requests: readonly TraceRequest[],
): Promise<number> {
  const id = `sample-${++projects}`;
  await store.directory.createProject(projectOf(id, { createdAt: startMs }), by);
  for (const request of requests) {
    const headers = { 'content-type': 'application/json', 'caller-stats-project': id };
    const body = JSON.stringify(request);
    const answer = await send({ method: 'POST', path: '/v1/traces', key: keys.admin, headers, body });
    expect(answer.text).toBe('{}');
  }
  const { text } = await send({ path: `/v1/analytics/${id}/assistant/caller-stats` });
  return (JSON.parse(text) as { total: number }).total;
}

const shared = sharedService();

/** All spans of requests in one, as exporters send them together. */
const joined = (requests: readonly TraceRequest[]): TraceRequest => ({
  resourceSpans: requests.flatMap(({ resourceSpans }) => resourceSpans),
});

test.each(samples.map((sample) => [sample.setup, sample] as const))('%s', async (_, sample) => {
  expect(await countAfter(shared(), [joined(spansOf(sample))])).toBe(countedOf(sample));
});

/**
 * Version 7 of the AI SDK writes the id of a message on the agent's span, and an application of VoltAgent on a span around the
 * agent's, not on those of the model's calls inside. If these arrive alone first, in two traces with the same message, each trace
 * is a query already (docs/guides/record/opentelemetry.md, "When a trace may count wrongly").
 */
const isNamedLate = ({ setup }: Sample) =>
  /AI SDK 7: (the same message twice|a tool in the browser|the same with an id)$|^VoltAgent: the same message twice/.test(
    setup,
  );

test('the spans of a query count once, whatever their order and requests, and however often they are sent', async () => {
  const deliveries = fc.constantFrom(...samples.filter((sample) => !isNamedLate(sample))).chain((sample) => {
    const spans = spansOf(sample);
    const some = fc.shuffledSubarray(spans);
    const all = fc.shuffledSubarray(spans, { minLength: spans.length });
    return fc.record({ sample: fc.constant(sample), some, all, size: fc.integer({ min: 1, max: 6 }) });
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
    expect(await countAfter(shared(), requests), sample.setup).toBe(countedOf(sample));
  };
  await fc.assert(fc.asyncProperty(deliveries, run), { numRuns: randomCases(250) });
});
