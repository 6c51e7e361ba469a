/** Valid requests. */
import { gzipSync } from 'node:zlib';
import { INTERVALS, PERIODS } from '../../src/domain/calendar/names.js';
import { dayMs } from '../../src/domain/time/duration.js';
import { words } from '../support/words.js';
import { eventNumbers, makeQuery, writeTime } from './events.js';
import { writeJson } from './json-text.js';
import type { Operation, Parameter } from './operations.js';
import { type Effect, type Parts, PLAIN_PARTS } from './parts.js';
import type { Random } from './random.js';
import { PROJECTS, type World } from './world.js';

export type Project = keyof typeof PROJECTS;

/** A request for the operation that must succeed, and records into the project. */
export function validRequest(operation: Operation, project: Project, world: World, random: Random): Parts {
  const { body, type, encoding, effect } = bodyFor(operation, project, world, random);
  const key = keyFor(operation, project, world, random);
  const query = compatible(
    operation,
    operation.parameters.filter(
      (one) => one.in === 'query' && (isRequired(operation, one) || !random.oneIn(3)),
    ),
  );
  const names = random.oneIn(2) ? query : query.toReversed();
  const values = names.map(
    (one) => `${one.name}=${encodeURIComponent(parameterValue(one, random, operation))}`,
  );
  const headers: Parts['headers'] = [['Host', 'fuzz.test'], ...usualHeaders(random)];
  if (key !== undefined) headers.push(['Authorization', `Bearer ${key}`]);
  if (type !== undefined) headers.push(['Content-Type', type]);
  if (encoding !== undefined) headers.push(['Content-Encoding', encoding]);
  for (const one of operation.parameters)
    if (one.in === 'header') headers.push([one.name, PROJECTS[project]]);
  const path = operation.template.replaceAll(/\{\w+\}/g, PROJECTS[project]);
  return {
    ...PLAIN_PARTS,
    method: operation.method === 'GET' && random.oneIn(10) ? 'HEAD' : operation.method,
    target: `${path}${values.length === 0 ? (random.oneIn(20) ? '?' : '') : `?${values.join('&')}`}`,
    headers: random.oneIn(4) ? headers.toReversed() : headers,
    body,
    chunks: body === undefined || !random.oneIn(3) ? 0 : 1 + random.int(4),
    // There is no correction: each is a dry run.
    mustSucceed: !operation.template.endsWith('Id}'),
    effect,
  };
}

/** Bars need both bounds: the range of all recorded queries has too many. */
function isRequired({ template }: Operation, { name }: Parameter): boolean {
  return name === 'since' || (/\/(series|cuts)$/.test(template) && name.startsWith('date'));
}

/** Leaves out parameters that are refused together with another one that is chosen. */
function compatible({ template }: Operation, chosen: readonly Parameter[]): Parameter[] {
  const has = (name: string): boolean => chosen.some((one) => one.name === name);
  const isTotals = template.endsWith('/caller-stats');
  const hasBounds = has('dateFrom') && has('dateTo');
  const isLeftOut: Readonly<Record<string, boolean>> = {
    period: has('dateFrom') || has('dateTo'),
    // As CSV, the others refuse it.
    compare: !isTotals || !(hasBounds || (has('period') && !has('dateFrom') && !has('dateTo'))),
    caller: has('by'),
    layout: !has('by'),
    // Other bounds go with it.
    asOf: true,
    // Only an earlier answer knows it.
    before: true,
    // Hours make too many buckets by caller.
    interval: has('by'),
  };
  return chosen.filter(({ name }) => isLeftOut[name] !== true);
}

function usualHeaders(random: Random): Parts['headers'] {
  const all: Parts['headers'] = [
    ['Accept', random.pick(['*/*', 'application/json', 'text/csv', 'text/html;q=0.9, text/csv;q=0.5', ''])],
    ['User-Agent', random.pick(['curl/8.5.0', 'Mozilla/5.0 (fuzz)', ''])],
    ['X-Forwarded-For', random.pick(['203.0.113.9', '::1', 'nobody'])],
    ['Accept-Encoding', 'gzip, br'],
    ['Connection', 'keep-alive'],
    ['Traceparent', '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'],
  ];
  return all.filter(() => random.oneIn(4));
}

/** A range over some of the recorded queries, so that responses stay short, or a value of the schema. */
function parameterValue({ name, schema }: Parameter, random: Random, { template }: Operation): string {
  // What changed is known by quarter hours.
  if (template.endsWith('/changes') && name.startsWith('date'))
    return name === 'dateFrom' ? '2025-11-02T01:15Z' : '2025-12-01';
  const [first, last] = random.oneIn(30)
    ? [1 + random.int(28), 1 + random.int(28)]
    : [29 + random.int(2), 1 + random.int(2)];
  switch (name) {
    case 'dateFrom':
      return random.pick([`2025-11-${two(first)}`, writeTime(Date.UTC(2025, 10, first, 1, 2, 3, 4), random)]);
    case 'dateTo':
      return random.pick([
        `2025-12-${two(last)}`,
        `2025-12-${two(last)}T12:30`,
        writeTime(Date.UTC(2025, 11, last), random),
      ]);
    case 'recordedFrom':
      return `2025-11-${two(first)}`;
    case 'since':
    case 'recordedTo':
      return `2025-12-${two(last)}`;
    case 'timeZone':
      return random.pick(words('UTC utc Europe/Berlin Asia/Kathmandu America/St_Johns Pacific/Apia'));
    case 'period':
      // Everything cannot be compared.
      return random.pick(PERIODS.filter((period) => period !== 'all'));
    case 'interval':
      return random.pick(INTERVALS);
    default:
      return String(random.pick((schema as { enum?: unknown[] }).enum ?? ['1', 'a', 'true']));
  }
}

function two(number: number): string {
  return String(number).padStart(2, '0');
}

function keyFor(
  { keys, method }: Operation,
  project: Project,
  world: World,
  random: Random,
): string | undefined {
  if (keys.length === 0) return undefined;
  const bound = project === 'events' || project === 'counted' ? world.keys.recording[project] : undefined;
  if (keys.includes('recordingKey') && bound !== undefined && random.oneIn(2)) return bound;
  return method === 'GET' && random.oneIn(2) ? world.keys.readOnly : world.keys.admin;
}

interface Body {
  readonly body: Buffer | undefined;
  readonly type?: string;
  readonly encoding?: string;
  readonly effect: Effect;
}

function bodyFor(operation: Operation, project: Project, world: World, random: Random): Body {
  const effect: Effect = { kind: 'none' };
  if (operation.mediaTypes.length === 0) return { body: undefined, effect };
  if (operation.template.endsWith('/queries')) return recordingBody(random);
  if (operation.template.endsWith('/imported-counts')) return countsBody(random);
  if (operation.template.endsWith('/corrections')) {
    // What is only measured changes no count.
    const correction = { id: 'c', action: 'withdraw', reason: 'fuzzed', caller: 'web', dryRun: true };
    return { body: Buffer.from(writeJson(correction, random)), type: 'application/json', effect };
  }
  if (operation.template === '/mcp') return toolBody(project, random);
  // Nothing of metrics is read but the name of their list in JSON.
  if (operation.template === '/v1/metrics') {
    const body = Buffer.from(writeJson({ resourceMetrics: [{}] }, random));
    return { body, type: 'application/json', effect };
  }
  const fitting = world.telemetry.filter(({ signal }) => operation.template === `/v1/${signal}`);
  const { type, bytes, packed, traces } = random.pick(fitting);
  const gzip = random.oneIn(8);
  return {
    body: gzip ? packed : bytes,
    type,
    ...(gzip ? { encoding: 'gzip' } : {}),
    effect: project === 'traces' ? { kind: 'traces', numbers: traces } : effect,
  };
}

/** A call of a tool, which succeeds over HTTP even if the tool refuses its arguments. */
function toolBody(project: Project, random: Random): Body {
  const call = {
    jsonrpc: '2.0',
    id: random.int(100),
    method: 'tools/call',
    params: {
      name: random.pick(words('list_projects get_caller_stats get_callers')),
      arguments: random.oneIn(3) ? {} : { projectId: PROJECTS[project] },
    },
  };
  return {
    body: Buffer.from(writeJson(call, random)),
    type: 'application/json',
    effect: { kind: 'none' },
  };
}

/** Counts of one source, each always the same, so that none contradicts another. */
function countsBody(random: Random): Body {
  const days = random.times(1 + random.int(6), () => random.int(10_000));
  const counts = days.map((day) => ({
    source: 'https://old.example.com/docs',
    caller: ['web', 'api', 'slack'][day % 3],
    start: new Date(day * dayMs).toISOString(),
    end: new Date((day + 1) * dayMs).toISOString(),
    count: day % 5,
  }));
  const lines = counts.map((count) => JSON.stringify(count)).join('\n');
  return random.oneIn(3)
    ? { body: Buffer.from(lines), type: 'application/x-ndjson', effect: { kind: 'none' } }
    : { body: Buffer.from(writeJson(counts, random)), type: 'application/json', effect: { kind: 'none' } };
}

function recordingBody(random: Random): Body {
  const count = random.oneIn(400) ? 2000 : 1 + random.int(6);
  // Lower numbers are more frequent, so that some queries are repeated.
  const numbers = random.times(count, () => random.int(random.oneIn(2) ? eventNumbers : 5000));
  const queries = numbers.map((number) => {
    const { id, caller, occurredAt } = makeQuery(number);
    return { id, caller, occurredAt: writeTime(occurredAt, random) };
  });
  const asLines = random.oneIn(3);
  const ends = ['\n', '\r\n', '\n\n', '\n \t\n'];
  const text = asLines
    ? queries.map((query) => JSON.stringify(query) + random.pick(ends)).join('')
    : writeJson(queries.length === 1 && random.oneIn(2) ? queries[0] : queries, random);
  const plain = Buffer.from(!asLines && random.oneIn(30) ? `\ufeff${text}` : text);
  const gzip = random.oneIn(8);
  return {
    body: gzip ? gzipSync(plain, { level: 1 }) : plain,
    type: random.pick(
      asLines
        ? ['application/x-ndjson']
        : ['application/json', 'application/json; charset=utf-8', 'Application/JSON'],
    ),
    ...(gzip
      ? { encoding: random.pick(['gzip', 'GZIP', ' gzip']) }
      : random.oneIn(20)
        ? { encoding: 'identity' }
        : {}),
    effect: { kind: 'events', numbers },
  };
}
