/**
 * What real SDKs send, without what no rule reads. `otlp-sdks.ndjson` is kept by `test/sdks/traffic.deep.test.ts`.
 * `otlp-shapes.ndjson` has set-ups that were once counted wrongly, of JavaScript, Python, Go and Java.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TelemetrySetting } from '../../src/domain/queries/telemetry-settings.js';
import { root } from '../tidy/sources.js';

/** The parts of a request that matter here. */
export interface TraceRequest {
  readonly resourceSpans: readonly {
    readonly resource: object;
    readonly scopeSpans: readonly { readonly scope: object; readonly spans: readonly Span[] }[];
  }[];
}

interface Span {
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano?: string;
}

type Callers = Readonly<Record<string, number>>;

export interface Sample {
  readonly setup: string;
  /** What a person counts: the queries, or those of each caller. */
  readonly correct: number | Callers;
  /** What is counted where no rule can know better, and the help, which the documentation has, too. */
  readonly unaided?: { readonly counted: number | Callers; readonly help: string };
  /** Those that differ from the defaults. */
  readonly settings?: Partial<Readonly<Record<TelemetrySetting, string>>>;
  readonly requests: readonly TraceRequest[];
}

export const samples = ['otlp-sdks', 'otlp-shapes'].flatMap((name) =>
  readFileSync(join(root, `test/samples/${name}.ndjson`), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Sample),
);

/** Requests with one span each, of which the last one began at this time. */
export function spansOf({ requests }: Sample, lastMs: number): TraceRequest[] {
  const all = requests.flatMap(({ resourceSpans }) => resourceSpans);
  const spans = all.flatMap(({ scopeSpans }) => scopeSpans.flatMap((one) => one.spans));
  const last =
    spans
      .map(({ startTimeUnixNano }) => startTimeUnixNano)
      .sort()
      .at(-1) ?? '0';
  const shift = BigInt(lastMs) * 1_000_000n - BigInt(last);
  const moved = (time: string) => String(BigInt(time) + shift);
  return all.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ scope, spans }) =>
      spans.map((span) => {
        const { startTimeUnixNano, endTimeUnixNano: end } = span;
        const times = {
          startTimeUnixNano: moved(startTimeUnixNano),
          ...(end && { endTimeUnixNano: moved(end) }),
        };
        return { resourceSpans: [{ resource, scopeSpans: [{ scope, spans: [{ ...span, ...times }] }] }] };
      }),
    ),
  );
}

/** All spans of requests in one, as exporters send them together. */
export const joined = (requests: readonly TraceRequest[]): TraceRequest => ({
  resourceSpans: requests.flatMap(({ resourceSpans }) => resourceSpans),
});
