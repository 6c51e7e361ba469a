/** The queries of the Grafana dashboard, sent to a real server as the Infinity data source would. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { INTERVALS } from '../../src/domain/counting/interval.js';
import { makeKey, placeWithSample, project, succeed } from '../support/cli/cli-place.js';
import { addressOf, type Dashboard, type Query, rowsOf, substituted } from '../support/cli/grafana.js';

const read = (name: string): string =>
  readFileSync(new URL(`../../integrations/grafana/${name}`, import.meta.url), 'utf8');

const dashboard = JSON.parse(read('caller-stats.json')) as Dashboard;
const [totals, series, callers] = dashboard.panels;
const infinity = { type: 'yesoreyeram-infinity-datasource', uid: `\${datasource}` };

/** Values of Grafana's variables and the dashboard's. */
const values = {
  project,
  interval: 'month',
  __timezone: 'Europe/Berlin',
  '__timeFrom:date:iso': '2023-12-31T23:00:00.000Z',
  '__timeTo:date:iso': '2024-12-31T23:00:00.000Z',
};

describe('the dashboard', () => {
  test('asks only the selected Infinity data source', () => {
    expect(dashboard.panels.map(({ type }) => type)).toEqual(['stat', 'timeseries', 'table']);
    for (const { datasource, targets } of dashboard.panels) {
      expect(targets).toHaveLength(1);
      expect([datasource, targets[0]?.datasource]).toEqual([infinity, infinity]);
      expect(targets[0]).toMatchObject({ type: 'json', source: 'url', parser: 'backend', format: 'table' });
      expect(targets[0]?.url_options.method).toBe('GET');
    }
  });

  test('defines every variable that Grafana does not', () => {
    expect(dashboard.templating.list.map(({ name, type }) => [name, type])).toEqual([
      ['datasource', 'datasource'],
      ['project', 'textbox'],
      ['interval', 'custom'],
    ]);
    expect(dashboard.templating.list[2]?.query.split(',')).toEqual(INTERVALS);
    const known = { ...values, datasource: 'caller-stats' };
    expect(substituted(JSON.stringify(dashboard), known)).not.toContain(`\${`);
  });

  test('contains no key and no host', () => {
    expect(read('caller-stats.json')).not.toMatch(/authorization|bearer|https?:/i);
  });

  test('shows the same totals, months and callers as stats', async () => {
    const place = await placeWithSample();
    const key = await makeKey(place, 'admin');
    const server = await place.serve();
    const ask = async (query: Query | undefined, more = {}) => {
      if (query === undefined) throw new Error('the panel has no query');
      const headers = { authorization: `Bearer ${key}` };
      const response = await fetch(addressOf(query, server.url, { ...values, ...more }), { headers });
      expect(response.status).toBe(200);
      return rowsOf(query, await response.json());
    };
    const stats = async (...args: string[]) => {
      const range = ['--from', values['__timeFrom:date:iso'], '--to', values['__timeTo:date:iso']];
      return JSON.parse((await succeed(place.run(['stats', project, ...range, ...args, '--json']))).stdout);
    };
    expect(await ask(totals?.targets[0])).toEqual([await stats()]);
    expect(await ask(callers?.targets[0])).toEqual((await stats('--callers')).callers);
    const { buckets } = await stats('--interval', 'month', '--time-zone', 'Europe/Berlin');
    const bars = await ask(series?.targets[0]);
    expect(bars).toHaveLength(12);
    expect(bars).toEqual(
      (buckets as { start: string; web: number; api: number; other: number }[]).map(
        ({ start, web, api, other }) => ({ time: new Date(start), web, api, other }),
      ),
    );
    // Grafana's name for UTC.
    expect(await ask(series?.targets[0], { __timezone: 'utc', interval: 'week' })).toHaveLength(54);
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
