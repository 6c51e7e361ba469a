/** Keeps what the SDKs send as samples for the fast tests, without prompts, answers and addresses. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startHttpServer } from '../../support/http-server.js';
import { root } from '../../tidy/sources.js';
import type { Scenario } from '../rows/scenarios.js';

interface Sample extends Pick<Scenario, 'setup' | 'correct' | 'unaided'> {
  /** The bodies of the requests, as JSON. */
  readonly requests: readonly unknown[];
}

export interface Tap {
  readonly url: string;
  /** Makes what has arrived since the last call the sample of this scenario; tests scatter the spans themselves. */
  readonly keep: (scenario: Scenario) => void;
  readonly samples: readonly Sample[];
}

/** Passes every request on to a server, and keeps the bodies of those with spans. */
export async function startTap(serverUrl: string): Promise<Tap> {
  const samples: Sample[] = [];
  let requests: unknown[] = [];
  const url = await startHttpServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    // Mastra also sends its log, whose lines say anything.
    if (request.url === '/v1/traces') requests.push(reduced(JSON.parse(body.toString())));
    const headers = {
      'content-type': 'application/json',
      authorization: request.headers.authorization ?? '',
    };
    const answer = await fetch(`${serverUrl}${request.url}`, { method: 'POST', headers, body });
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
  });
  const keep = ({ setup, correct, unaided, env }: Scenario) => {
    if (env?.['OTEL_BSP_MAX_EXPORT_BATCH_SIZE'] === undefined)
      samples.push({ setup, correct, ...(unaided !== undefined && { unaided }), requests });
    requests = [];
  };
  return { url, keep, samples };
}

/** Writes the samples if `CALLER_STATS_KEEP_SDK_SAMPLES` is set. */
export async function keepSamples({ samples }: Tap): Promise<void> {
  if (process.env['CALLER_STATS_KEEP_SDK_SAMPLES'] === undefined) return;
  const lines = samples.map((sample) => `${JSON.stringify(sample)}\n`);
  await writeFile(join(root, 'test/samples/otlp-sdks.ndjson'), lines.join(''));
}

/** What a span is, which rules may read. */
const KEPT =
  /^(caller_stats\.id|gen_ai\.(operation\.name|agent\.name)|ai\.(operationId|telemetry\.metadata\..+|settings\.context\..+)|operation\.name|openinference\.span\.kind|langfuse\.(observation\.type|trace\.metadata\..+)|voltagent\.operation_id|genkit:metadata:subtype|mastra\.metadata\.messageId|traceloop\.span\.kind|llm\.request\.type|next\.(span_type|route)|http\.(request\.)?(method|route)|url\.path|service\.name)$/;

/** Drops attributes that are not kept, events, links, and the many spans of Next that no question has to do with. */
function reduced(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((one) => !isNextDetail(one)).map(reduced);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(
    ([name]) => !/^(events|links|status|endTimeUnixNano|traceState|dropped.*Count)$/.test(name),
  );
  return Object.fromEntries(
    entries.map(([name, one]) => [name, name === 'attributes' ? keptOf(one as Attribute[]) : reduced(one)]),
  );
}

function isNextDetail({ name, attributes }: { name?: string; attributes?: Attribute[] }): boolean {
  const isNext = attributes?.some(({ key }) => key === 'next.span_type') ?? false;
  return isNext && !/^(GET|POST|executing|start|render) /.test(name ?? '');
}

interface Attribute {
  readonly key: string;
}

const keptOf = (attributes: readonly Attribute[]) => attributes.filter(({ key }) => KEPT.test(key));
