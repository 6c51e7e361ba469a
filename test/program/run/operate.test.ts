/** Metrics, alerts, dashboards and logs for operators: every metric named in them exists on both stores. */
import { readFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { parser } from '@prometheus-io/lezer-promql';
import { describe, expect, inject, test } from 'vitest';
import { parse } from 'yaml';
import { openLog } from '../../../src/cli/terminal/log.js';
import { sharedByTests } from '../../support/cleanup.js';
import { firstRunOf, matched, type Server, startServer } from '../../support/cli/cli.js';
import { batchOf, clientOf } from '../../support/cli/cli-client.js';
import { emptyPlace, refusal } from '../../support/cli/cli-place.js';
import { metricOf, readMetrics, sumOf } from '../../support/http/metrics.js';
import { startHttpServer } from '../../support/http-server.js';
import { newSchemaIn } from '../../support/storage/store.js';

const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

const page = read('docs/guides/run/operate.md');
const rules: { readonly alert: string; readonly expr: string }[] = parse(
  read('integrations/prometheus/alerts.yaml'),
).groups.flatMap(({ rules: some }: { rules: unknown }) => some);
const dashboard = JSON.parse(read('integrations/grafana/operations.json'));
const panels: { title: string; targets: { expr: string }[] }[] = dashboard.panels;

/** Replaces Grafana's variables in an expression. */
const withValues = (expr: string): string =>
  expr.replaceAll('$__rate_interval', '1m').replaceAll(/\$(job|instance)/g, '.*');

const expressions: readonly (readonly [string, string])[] = [
  ...rules.map(({ alert, expr }) => [alert, expr] as const),
  ...panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, withValues(expr)] as const)),
];

/** The names of the metrics in an expression. Throws if it is not PromQL. */
function metricsIn(expression: string): string[] {
  const names: string[] = [];
  parser.parse(expression).iterate({
    enter: ({ name, type, from, to }) => {
      if (type.isError) throw new Error(`not PromQL at ${from}: ${expression}`);
      if (name === 'VectorSelector') names.push(matched(expression.slice(from, to), /^([a-z_0-9]+)/));
    },
  });
  return names;
}

/** The first cells of the rows of the table below a heading. */
function firstCells(heading: string): string[] {
  const section = page.split(/^##+ /m).find((one) => one.startsWith(`${heading}\n`)) ?? '';
  return [...section.matchAll(/^\| `([^`]+)` \|/gm)].map(([, cell = '']) => cell);
}

async function startMeasured(database: string): Promise<Server & { readonly metricsUrl: string }> {
  const server = await startServer(['--metrics', '0'], { env: { DATABASE_URL: database } });
  return { ...server, metricsUrl: matched(server.stdout, /^Metrics for Prometheus: (http:\S+)$/m) };
}

describe.each(['sqlite', 'postgres'] as const)('a server on %s', (kind) => {
  const shared = sharedByTests(async () => {
    const database =
      kind === 'sqlite'
        ? `sqlite:${(await emptyPlace()).database}`
        : newSchemaIn(inject('postgresServers').at(-1)?.url ?? '');
    const server = await startMeasured(database);
    const { project, admin } = firstRunOf(server);
    const client = clientOf(server, project, admin);
    for (const number of [1, 1, 2])
      expect(await client.record(batchOf(number, 3))).toMatchObject({ status: 200 });
    const counts = await fetch(`${server.url}/v1/analytics/${project}/assistant/caller-stats`, {
      headers: { authorization: `Bearer ${admin}` },
    });
    expect(counts.status).toBe(200);
    expect((await fetch(`${server.url}/metrics`)).status, 'metrics are not on the public port').toBe(404);
    return readMetrics(await (await fetch(server.metricsUrl)).text());
  });

  test('counts what it did', () => {
    const metrics = shared();
    expect(sumOf(metrics, 'caller_stats_build_info', { database: kind })).toBe(1);
    expect(sumOf(metrics, 'caller_stats_queries_total', { outcome: 'recorded' })).toBe(6);
    expect(sumOf(metrics, 'caller_stats_queries_total', { outcome: 'duplicate' })).toBe(3);
    expect(sumOf(metrics, 'caller_stats_commit_duration_seconds_count')).toBeGreaterThanOrEqual(3);
    expect(sumOf(metrics, 'caller_stats_database_up')).toBe(1);
    for (const name of ['process_cpu_seconds_total', 'nodejs_eventloop_lag_max_seconds', 'process_open_fds'])
      expect(sumOf(metrics, name), name).toBeGreaterThan(0);
    expect(sumOf(metrics, 'caller_stats_database_connections_limit')).toBe(kind === 'sqlite' ? 0 : 10);
    const exports = {
      method: 'GET',
      route: '/v1/analytics/:projectId/assistant/caller-stats',
      status: '200',
    };
    expect(sumOf(metrics, 'caller_stats_http_requests_total', exports)).toBe(1);
  });

  test('has exactly the metrics of the docs', () => {
    const metrics = shared();
    expect([...metrics.types.keys()].toSorted()).toEqual(firstCells('Metrics').toSorted());
  });

  test('follows the naming conventions of Prometheus', () => {
    const metrics = shared();
    for (const [name, type] of metrics.types) {
      expect(metrics.helps.get(name), name).toMatch(/\S\.$/);
      expect(name.endsWith('_total'), name).toBe(type === 'counter');
      expect(name).not.toMatch(/_(ms|milliseconds|kb|megabytes|percent)\b/);
    }
    const unknown = metrics.samples.filter(({ name }) => !metrics.types.has(metricOf(metrics, name)));
    expect(unknown).toEqual([]);
  });

  test.each(expressions)('has the metrics of %s: %s', (_, expression) => {
    const metrics = shared();
    const names = metricsIn(expression);
    expect(names.length).toBeGreaterThan(0);
    // Prometheus itself has the first of them for every target.
    const own = names.filter((name) => name !== 'up');
    expect(own.filter((name) => !metrics.types.has(metricOf(metrics, name)))).toEqual([]);
    // Routes in labels must exist.
    for (const [, route = ''] of expression.matchAll(/route=~?"([^"]+)"/g)) {
      for (const one of route.split('|'))
        expect(['/v1/traces', '/v1/logs', ...metrics.samples.map(({ labels }) => labels['route'])]).toContain(
          one,
        );
    }
  });
});

test.each(['rate(a[5m]', 'sum by (a (b)', 'a{b=}', 'a b'])(
  '%s is recognized as invalid PromQL',
  (expression) => {
    expect(() => metricsIn(expression)).toThrow('not PromQL');
  },
);

test('the docs list exactly the existing alerts', () => {
  expect(firstCells('Alert rules')).toEqual(rules.map(({ alert }) => alert));
});

test('the Grafana dashboard filters by the selected source, jobs and servers, and contains no host', () => {
  const variables: string[] = dashboard.templating.list.map(({ name }: { name: string }) => name);
  expect(variables).toEqual(['datasource', 'job', 'instance']);
  for (const { targets, title } of panels) {
    for (const { expr } of targets) expect(expr, title).toContain('{job=~"$job",instance=~"$instance"');
  }
  const used = new Set([...JSON.stringify(dashboard).matchAll(/\$\{?(\w+)/g)].map(([, name = '']) => name));
  expect([...used].filter((name) => ![...variables, '__rate_interval', '__all'].includes(name))).toEqual([]);
  expect(JSON.stringify(dashboard)).not.toMatch(
    /https?:|"uid":"(?!\$\{datasource\}|caller-stats-operations)/,
  );
});

test('a used metrics port is an error that names the flag', async () => {
  const { port } = new URL(await startHttpServer());
  const place = await emptyPlace();
  expect(await refusal(place.run(['serve', '--port', '0', '--metrics', port]), 1)).toContain(
    `127.0.0.1:${port} is in use by another program; choose another with --metrics.`,
  );
});

test('a server logs once that it listens and once that its metrics do', async () => {
  const server = await (await emptyPlace()).serve(['--metrics', '0']);
  const entries = (await server.stop()).stderr
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { readonly msg: string; readonly url?: string });
  expect(entries.filter(({ msg }) => /listen/i.test(msg))).toMatchObject([
    { msg: 'metrics: listening', url: expect.stringMatching(/\/metrics$/) },
    {
      msg: 'listening',
      url: server.url,
      timeZones: expect.stringMatching(/ \d{4}[a-z], which is part of caller-stats$/),
    },
  ]);
});

test('logs are JSON or, on a terminal, text; request ids differ between starts', async () => {
  const linesOf = async () => {
    const server = await (await emptyPlace()).spawnServer(['--log-level', 'debug'], {
      env: { FORCE_COLOR: '1' },
    });
    for (let times = 0; times < 2; times++) await fetch(`${server.url}/livez`);
    return (await server.stop()).stderr.trimEnd().split('\n');
  };
  const starts = await Promise.all([linesOf(), linesOf()]);
  const entries = starts.flat().map((line) => JSON.parse(line));
  expect(entries.map(({ msg }) => msg)).toEqual(expect.arrayContaining(['listening', 'stopping', 'stopped']));
  for (const entry of entries)
    expect(entry).toMatchObject({ level: expect.any(Number), time: expect.any(Number) });
  const stderr = new PassThrough({ encoding: 'utf8' });
  const log = await openLog({ logLevel: 'info' }, { stderr, interactive: true, colors: false });
  log.info('stopped');
  expect(stderr.read()).toMatch(/^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}\] INFO: stopped\n$/);
  // Anything can be thrown.
  log.warn({ err: 'a text' }, 'failed');
  expect(stderr.read()).toMatch(/ WARN: failed\s+err: "a text"/);
  const ids = starts.map(
    (lines) => new Set([...lines.join('\n').matchAll(/"reqId":"([^"]+)"/g)].map(([, id]) => id)),
  );
  expect(ids.map(({ size }) => size)).toEqual([2, 2]);
  expect(new Set(ids.flatMap((some) => [...some])).size).toBe(4);
});
