/** Spans that a browser test sends to the sample's project. */
import { SpanKind } from '@opentelemetry/api';
import { bodyOf, JSON_TYPE, type Sent, spanId, traceId } from '../http/telemetry.js';
import type { DashboardServer } from './dashboard-server.js';

/** Each with its attributes, in a trace of its own, from a service. */
export async function sendSpans(
  { url, firstRun }: DashboardServer,
  service: string,
  spans: readonly NonNullable<Sent['attributes']>[],
  firstTrace = 0,
): Promise<void> {
  const sent = spans.map((attributes, at) => ({
    traceId: traceId(firstTrace + at),
    spanId: spanId(at),
    resource: { 'service.name': service },
    attributes,
    ...('http.route' in attributes && { kind: SpanKind.SERVER }),
  }));
  const response = await fetch(`${url}/v1/traces`, {
    method: 'POST',
    headers: { authorization: `Bearer ${firstRun.recording}`, 'content-type': JSON_TYPE },
    body: Buffer.from(bodyOf('traces', JSON_TYPE, sent)),
  });
  if (!response.ok) throw new Error(await response.text());
}
