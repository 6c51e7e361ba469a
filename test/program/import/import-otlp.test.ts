/** OTLP files, as the OpenTelemetry Collector writes them, are imported by a server. */
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import type { Server } from '../../support/cli/cli.js';
import {
  makeKey,
  type Place,
  placeWithProject,
  project,
  refusal,
  succeed,
} from '../../support/cli/cli-place.js';

const sample = readFileSync(new URL('../../samples/exports/otel-collector.jsonl', import.meta.url), 'utf8');
const hex = (number: number, digits: number) => number.toString(16).padStart(digits, '0');

/** A line with a query in each of these spans. */
function line(spans: readonly object[]): string {
  return JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] });
}

function query(number: number, more: object = {}): object {
  const attributes = [
    { key: 'gen_ai.operation.name', value: { stringValue: 'invoke_agent' } },
    { key: 'caller_stats.caller', value: { stringValue: 'slack' } },
  ];
  const startTimeUnixNano = '1780128005000000000';
  return {
    traceId: hex(number + 1, 32),
    spanId: hex(number + 1, 16),
    kind: 2,
    startTimeUnixNano,
    attributes,
    ...more,
  };
}

async function importOtlp(place: Place, { url }: Server, text: string) {
  await writeFile(place.path('traces.jsonl'), text);
  const env = { CALLER_STATS_KEY: await makeKey(place, 'recording') };
  const given = ['import', 'traces.jsonl', '--project', project, '--format', 'otlp', '--url', url];
  return place.run(given, { env });
}

async function counts(place: Place): Promise<unknown> {
  return JSON.parse((await succeed(place.run(['stats', project, '--json']))).stdout);
}

test('an OTLP file needs a server, and no options about finding queries', async () => {
  const place = await placeWithProject();
  const given = ['import', '-', '--project', project, '--format', 'otlp', '--dry-run', '--id-from', 'line'];
  expect(await refusal(place.run(given), 2)).toMatch(
    /--dry-run: does not apply to --format otlp\n.*--id-from: does not apply.*\n.*--url: is missing; a running server finds/,
  );
});

test('a line with spans and log records sends both', async () => {
  const place = await placeWithProject();
  const server = await place.serve();
  const record = { ...query(2), timeUnixNano: '1780128005000000000' };
  const both = {
    ...(JSON.parse(line([query(1)])) as object),
    resourceLogs: [{ scopeLogs: [{ logRecords: [record] }] }],
  };
  await succeed(importOtlp(place, server, `${JSON.stringify(both)}\n`));
  expect(await counts(place)).toMatchObject({ other: 2, total: 2 });
});

test('lists with names in snake_case, and those of before 2022, are sent once', async () => {
  const place = await placeWithProject();
  const server = await place.serve();
  const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'docs' } }] };
  const record = (number: number) => ({ ...query(number), timeUnixNano: '1780128005000000000' });
  const lines = [
    { resource_spans: [{ resource, scope_spans: [{ spans: [query(1)] }] }] },
    { resourceSpans: [{ instrumentationLibrarySpans: [{ spans: [query(2)] }] }] },
    { resource_spans: [{ instrumentation_library_spans: [{ instrumentationLibrarySpans: [query(3)] }] }] },
    { resource_logs: [{ scope_logs: [{ log_records: [record(4)] }, { logs: [record(5)] }] }] },
    { resource_metrics: [] },
  ];
  const { stdout } = await succeed(
    importOtlp(place, server, lines.map((one) => JSON.stringify(one)).join('\n')),
  );
  expect(stdout).toBe('5 spans and log records sent, 1 skipped\n');
  expect(await counts(place)).toMatchObject({ other: 5, total: 5 });
});

test('its queries are counted as if they had been sent, once however often', async () => {
  const place = await placeWithProject();
  const server = await place.serve();
  for (const _time of ['first', 'second']) {
    const { stdout } = await succeed(importOtlp(place, server, sample));
    expect(stdout).toBe('3 spans and log records sent, 1 skipped\n');
    expect(await counts(place)).toEqual({ web: 2, api: 0, other: 0, total: 2 });
  }
});

test('bad lines and records are named, and all others are counted', async () => {
  const place = await placeWithProject();
  const server = await place.serve();
  const text = [
    'no',
    '{"spans":[]}',
    '{"resourceSpans":[7]}',
    line([query(0), query(1, { attributes: 'none' }), query(2)]),
    '',
    line([query(3)]),
  ];
  const { status, stdout, stderr } = await importOtlp(place, server, text.join('\n'));
  expect(stderr.trimEnd().split('\n')).toEqual([
    'traces.jsonl:1: is not JSON: "no"',
    'traces.jsonl:2: has neither resourceSpans nor resourceLogs',
    'traces.jsonl:3: resourceSpans: is not an array of objects',
    'traces.jsonl:4: Not recorded: record 2 of the request: attributes is not an array',
  ]);
  expect({ status, stdout }).toEqual({ status: 1, stdout: '4 spans and log records sent, 4 bad\n' });
  expect(await counts(place)).toMatchObject({ other: 3, total: 3 });
});

test('a line that is larger than the body limit of the server is sent in parts', async () => {
  const place = await placeWithProject();
  const server = await place.serve();
  const prompt = { key: 'prompt', value: { stringValue: 'x'.repeat(8_000) } };
  const spans = Array.from({ length: 2_500 }, (_, at) => {
    const { attributes, ...rest } = query(at) as { attributes: object[] };
    return { ...rest, attributes: [...attributes, prompt] };
  });
  const { stdout } = await succeed(importOtlp(place, server, line(spans)));
  expect(stdout).toBe('2,500 spans and log records sent\n');
  expect(await counts(place)).toMatchObject({ other: 2_500, total: 2_500 });
});
