/** The queries of the Grafana dashboard, sent to a real server as the Infinity data source would. */

import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { COMPARISONS, INTERVALS } from '../../../src/domain/calendar/names.js';
import type { Counts } from '../../../src/domain/counting/counts.js';
import { startOfDate, type TimeZone } from '../../../src/domain/time/time-zone.js';
import { emptyPlace, makeKey, placeWithSample, project, succeed } from '../../support/cli/cli-place.js';
import { asking, type Dashboard, type Query, substituted } from '../../support/cli/grafana.js';

const read = (name: string): string =>
  readFileSync(new URL(`../../../integrations/grafana/${name}`, import.meta.url), 'utf8');

const dashboard = JSON.parse(read('caller-stats.json')) as Dashboard;
const [totals, before, series, byCaller, callers, ofCaller, seriesOfCaller] = dashboard.panels;
const infinity = { type: 'yesoreyeram-infinity-datasource', uid: `\${datasource}` };

/** Values of Grafana's variables and the dashboard's. */
const values = {
  project,
  interval: 'month',
  compare: 'previous-year',
  'compare:text': 'same range a year earlier',
  caller: 'api',
  __timezone: 'Europe/Berlin',
  '__timeFrom:date:iso': '2023-12-31T23:00:00.000Z',
  '__timeTo:date:iso': '2024-12-31T23:00:00.000Z',
};

describe('the dashboard', () => {
  test('asks only the selected Infinity data source', () => {
    const table = { parser: 'backend', format: 'table' };
    expect(dashboard.panels.map(({ type }) => type)).toEqual([
      ...['stat', 'stat', 'timeseries', 'timeseries', 'table', 'stat', 'timeseries'],
    ]);
    for (const { datasource, targets } of dashboard.panels) {
      expect(targets).toHaveLength(1);
      expect([datasource, targets[0]?.datasource]).toEqual([infinity, infinity]);
      // The data source turns rows in the order of time, with one text, into a series for each text.
      const shape = targets === byCaller?.targets ? { parser: 'jq-backend', format: 'timeseries' } : table;
      expect(targets[0]).toMatchObject({ type: 'json', source: 'url', ...shape });
      expect(targets[0]?.url_options.method).toBe('GET');
    }
  });

  test('defines every variable that Grafana does not', () => {
    expect(dashboard.templating.list.map(({ name, type }) => [name, type])).toEqual([
      ['datasource', 'datasource'],
      ['project', 'textbox'],
      ['interval', 'custom'],
      ['compare', 'custom'],
      ['caller', 'textbox'],
    ]);
    expect(dashboard.templating.list[2]?.query.split(',')).toEqual(INTERVALS);
    const comparisons = dashboard.templating.list[3]?.query.split(',').map((one) => one.split(' : ')[1]);
    expect(comparisons).toEqual(COMPARISONS);
    const known = { ...values, datasource: 'caller-stats', '__field.labels.caller': 'web' };
    expect(substituted(JSON.stringify(dashboard), known)).not.toContain(`\${`);
  });

  test('contains no key and no host', () => {
    expect(read('caller-stats.json')).not.toMatch(/authorization|bearer|https?:/i);
  });

  test('shows the same totals, months and callers as stats', async () => {
    const place = await placeWithSample();
    const ask = asking(await place.serve(), await makeKey(place, 'admin'), values);
    const stats = async (...args: string[]) => {
      const range = ['--from', values['__timeFrom:date:iso'], '--to', values['__timeTo:date:iso']];
      return JSON.parse((await succeed(place.run(['stats', project, ...range, ...args, '--json']))).stdout);
    };
    expect(await ask(totals?.targets[0])).toEqual([await stats()]);
    const { previous } = await stats('--compare', 'previous-year', '--time-zone', 'Europe/Berlin');
    const { web, api, other, total } = previous as Counts;
    expect(total).toBeGreaterThan(0);
    expect(await ask(before?.targets[0])).toEqual([{ web, api, other, total }]);
    expect(await ask(callers?.targets[0])).toEqual((await stats('--callers')).callers);
    const { buckets } = await stats('--interval', 'month', '--time-zone', 'Europe/Berlin');
    const bars = await ask(series?.targets[0]);
    expect(bars).toHaveLength(12);
    expect(bars).toEqual(
      (buckets as { start: string; web: number; api: number; other: number }[]).map(
        ({ start, web, api, other }) => ({ time: new Date(start), web, api, other }),
      ),
    );
    const each = await stats('--interval', 'month', '--time-zone', 'Europe/Berlin', '--by', 'caller');
    const starts = (each.buckets as { start: string }[]).map(({ start }) => new Date(start));
    const named = each.callers as { caller: string; counts: number[] }[];
    expect(named.length).toBeGreaterThan(3);
    expect(await ask(byCaller?.targets[0])).toEqual(
      starts.flatMap((time, at) => named.map(({ caller, counts }) => ({ time, caller, count: counts[at] }))),
    );
    const ofApi = await stats('--interval', 'month', '--time-zone', 'Europe/Berlin', '--caller', 'api');
    const bucketsOfApi = ofApi.buckets as { start: string; total: number }[];
    expect(await ask(ofCaller?.targets[0])).toEqual([await stats('--caller', 'api')]);
    expect(await ask(seriesOfCaller?.targets[0])).toEqual(
      bucketsOfApi.map(({ start, total }) => ({ time: new Date(start), total })),
    );
    // Grafana's name for UTC.
    expect(await ask(series?.targets[0], { __timezone: 'utc', interval: 'week' })).toHaveLength(54);
  });
});

interface AlertRule {
  readonly uid: string;
  readonly condition: string;
  readonly data: readonly {
    readonly refId: string;
    readonly datasourceUid: string;
    readonly model: Query & { readonly expression?: string };
  }[];
}

describe('the alert rules', () => {
  const file = parse(read('alert-rules.yaml'), { merge: true }) as { groups: { rules: AlertRule[] }[] };
  const rules = file.groups.flatMap((group) => group.rules);
  const hour = 3_600_000;

  /** Queries at times relative to midnight in Berlin, which begins today. */
  const at = (count: number, hoursFromMidnight: number) => {
    const date = new Intl.DateTimeFormat('sv', { timeZone: 'Europe/Berlin' }).format(Date.now());
    const midnight = startOfDate(date, 'Europe/Berlin' as TimeZone);
    return Array.from({ length: count }, () =>
      JSON.stringify({
        id: randomUUID(),
        caller: 'web',
        occurredAt: new Date(midnight + hoursFromMidnight * hour),
      }),
    );
  };

  test.each([
    ['no query', [], ['caller-stats-silence']],
    ['queries of today only', at(200, 0), ['caller-stats-silence']],
    ['as many on both days', [...at(120, -3), ...at(120, -27)], []],
    ['three times as many', [...at(120, -3), ...at(40, -27)], []],
    ['more than that', [...at(121, -3), ...at(40, -27)], ['caller-stats-spike']],
    ['fewer than a hundred', [...at(99, -3), ...at(1, -27)], []],
  ])('after %s', async (_, lines, firing) => {
    const place = await emptyPlace();
    await succeed(place.run(['project', 'create', 'Demo', '--id', 'demo']));
    if (lines.length > 0)
      await succeed(place.run(['import', '-', '--project', 'demo'], { input: lines.join('\n') }));
    const ask = asking(await place.serve(), await makeKey(place, 'admin'), values);
    const fires = async ({ condition, data }: AlertRule) => {
      const queries = data.filter(({ datasourceUid }) => datasourceUid === 'caller-stats');
      const totals = await Promise.all(
        queries.map(async ({ refId, model }) => [refId, (await ask(model))[0]?.['total']] as const),
      );
      const { expression = '' } = data.find(({ refId }) => refId === condition)?.model ?? {};
      const js = totals.reduce(
        (text, [refId, total]) => text.replaceAll(`$${refId}`, String(total)),
        expression,
      );
      expect(js).toMatch(/^[\d =>*&]+$/);
      return Boolean(runInNewContext(js));
    };
    const fired = await Promise.all(rules.map(async (rule) => ((await fires(rule)) ? [rule.uid] : [])));
    expect(fired.flat()).toEqual(firing);
  });
});

test('the data source gets its key and host from the environment', () => {
  expect(parse(read('datasource.yaml'))).toEqual({
    apiVersion: 1,
    datasources: [
      {
        name: 'caller-stats',
        uid: 'caller-stats',
        type: infinity.type,
        access: 'proxy',
        url: '$CALLER_STATS_URL',
        jsonData: { auth_method: 'bearerToken', allowedHosts: ['$CALLER_STATS_URL'], timeoutInSeconds: 30 },
        secureJsonData: { bearerToken: '$CALLER_STATS_KEY' },
      },
    ],
  });
});
