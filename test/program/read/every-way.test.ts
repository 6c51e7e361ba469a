/** Every way of reading answers one table of questions alike: HTTP, the command, MCP, the client package, the dashboard and Grafana. */
import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createReader } from '../../../clients/javascript/src/index.js';
import type { CallerCounts, Counts } from '../../../src/domain/counting/counts.js';
import { REPORT_PARAMETER_NAMES, type ReportParameter } from '../../../src/domain/counting/report-request.js';
import type { Series } from '../../../src/domain/counting/series.js';
import { newShareLink } from '../../../src/domain/projects/share-link.js';
import { callerType } from '../../../src/domain/queries/caller.js';
import { dayMs, hourMs } from '../../../src/domain/time/duration.js';
import { callersTable, seriesTable, showTable } from '../../../src/mcp/answers.js';
import { openStore } from '../../../src/storage/open.js';
import { sharedByTests } from '../../support/cleanup.js';
import { programInShell, runCommand } from '../../support/cli/cli.js';
import { makeKey, placeWithProject, project, refusal, succeed } from '../../support/cli/cli-place.js';
import { type McpSession, withMcp } from '../../support/cli/mcp.js';
import {
  CASES,
  type Input,
  nearClockChanges,
  nowMs,
  REFUSED,
  REPORTS,
  type ReportName,
  zone,
} from '../../support/every-way/cases.js';
import { readDashboard } from '../../support/every-way/dashboard-way.js';
import { type Answer, panelsOf, readGrafana } from '../../support/every-way/grafana-way.js';
import { localUnit } from '../../support/local-calendar.js';
import { by } from '../../support/storage/entities.js';
import { isDeep } from '../../support/volume.js';

/** More callers than have a series of their own, over two and a half years. */
const names = ['web', 'api', 'slack', 'web', 'slack', 'sdk-python', 'web'];
const queries = [
  ...Array.from({ length: 1_500 }, (_, at) => nowMs - at * 15 * hourMs - (at % 97) * 60_000),
  ...nearClockChanges,
].map((timeMs, at) => ({
  id: `${at}`,
  caller: at % 10 === 0 ? `tool-${at % 230}` : (names[at % names.length] ?? ''),
  occurredAt: new Date(timeMs).toISOString(),
}));

const service = sharedByTests(async () => {
  const place = await placeWithProject();
  const input = queries.map((query) => JSON.stringify(query)).join('\n');
  await succeed(place.run(['import', '-', '--project', project], { input }));
  const [key, server] = [await makeKey(place, 'admin'), await place.serve()];
  const reader = createReader({ url: server.url, key });
  const get = async (report: ReportName, input: Input, accept = 'application/json') => {
    const query = new URLSearchParams(named(input, (name) => REPORT_PARAMETER_NAMES[name]));
    const response = await fetch(
      `${server.url}/v1/analytics/${project}/assistant/${REPORTS[report].path}?${query}`,
      {
        headers: { authorization: `Bearer ${key}`, accept },
      },
    );
    return { status: response.status, text: await response.text() };
  };
  const stats = (report: ReportName, input: Input, ...more: string[]) =>
    place.run(
      [
        'stats',
        project,
        ...REPORTS[report].options,
        ...Object.entries(named(input, optionOf)).flat(),
        ...more,
      ],
      { env: { CALLER_STATS_KEY: key } },
    );
  const token = await shareProject(place.env['DATABASE_URL'] ?? '');
  return { place, server, key, token, reader, get, stats };
});

/** The token of a share link. */
async function shareProject(database: string): Promise<string> {
  const store = await openStore(database);
  const wanted = { organizationId: 'default', projectId: project, name: 'Sheet', origins: [] };
  const { link, token } = newShareLink(
    { ...wanted, passwordHash: null, expiresAt: nowMs + dayMs },
    { by, randomInt },
  );
  await store.directory.createShareLink(link, by).finally(() => store.close());
  return token;
}

function named(input: Input, nameOf: (name: ReportParameter) => string): Record<string, string> {
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => [nameOf(name as ReportParameter), value]),
  );
}

const optionOf = (name: ReportParameter): string =>
  `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

const toolArguments = (input: Input) => ({
  projectId: project,
  ...named(input, (name) => REPORT_PARAMETER_NAMES[name]),
});

async function eachCase(
  cases: typeof CASES,
  use: (report: ReportName, input: Input, mcp: McpSession) => Promise<void>,
): Promise<void> {
  await withMcp(service().place, [], async (mcp) => {
    for (const [report, input] of cases) await use(report, input, mcp);
  });
}

test('every way refuses the same questions for the same reasons', async () => {
  const { get, stats, reader } = service();
  await eachCase(REFUSED, async (report, input, mcp) => {
    const { status, text } = await get(report, input);
    const { details } = JSON.parse(text) as { details: { message: string }[] };
    const messages = details.map(({ message }) => message);
    expect(status, text).toBe(400);
    expect(messages.length, text).toBeGreaterThan(0);
    // A model sends an empty text for what it leaves out.
    const ofTool = messages.filter((message) => !message.includes(': is empty;'));
    if (ofTool.length > 0)
      expect(await mcp.refusal(REPORTS[report].tool, toolArguments(input))).toBe(
        ['The call has invalid arguments.', ...ofTool.map((message) => `  ${message}`)].join('\n'),
      );
    const asOptions = Object.entries(REPORT_PARAMETER_NAMES).reduce(
      (lines, [name, parameter]) =>
        lines.replaceAll(new RegExp(`^${parameter}:`, 'gm'), `${optionOf(name as ReportParameter)}:`),
      messages.join('\n'),
    );
    const printed = (await refusal(stats(report, input), 2)).replaceAll(/^caller-stats: /gm, '').trim();
    expect(withoutNames(printed)).toBe(withoutNames(asOptions));
    const asked = { projectId: project, ...input } as object as Parameters<typeof reader.series>[0];
    const read = { totals: reader.callerStats, series: reader.series, callers: reader.callers }[report];
    await expect(read(asked)).rejects.toMatchObject({ status: 400, details: messages });
  });
});

/** Messages name other parameters as the user knows them. */
const withoutNames = (text: string): string =>
  text.replaceAll(/--from|--to|--caller|dateFrom|dateTo|caller/g, 'x');

/** The fields as in CSV: those of `previous` are named `previous.web` and so on. */
function flat({ previous = {}, ...own }: Record<string, unknown>): Record<string, string> {
  const inner = Object.entries(previous as object).map(([name, value]) => [`previous.${name}`, value]);
  return Object.fromEntries([...Object.entries(own), ...inner].map(([name, value]) => [name, String(value)]));
}

/** `text` is the answer over HTTP. */
async function expectOfTool(mcp: McpSession, report: ReportName, input: Input, text: string): Promise<void> {
  const { tool } = REPORTS[report];
  const answer: unknown = JSON.parse(text);
  if (report === 'totals') {
    const called = JSON.stringify(await mcp.call(tool, toolArguments(input)));
    expect(JSON.parse(withoutMoment(called))).toEqual(JSON.parse(withoutMoment(text)));
    return;
  }
  // Only the moment of the request has seconds.
  const withoutSeconds = (rows: string) => rows.replaceAll(/T\d\d:\d\d:\d\d\.\d{3}(Z|[+-]\d\d:\d\d)/g, 'T');
  const called = await mcp.text(tool, { ...toolArguments(input), rows: 1_000 });
  const table = report === 'series' ? seriesTable(answer as Series) : callersTable(answer as CallerCounts);
  const shown = showTable(table, { first: 1, count: 1_000 }, String);
  expect(withoutSeconds(called)).toContain(withoutSeconds(shown));
}

test('every way gives the same answers', async () => {
  const { get, stats, reader, server } = service();
  await eachCase(CASES, async (report, input, mcp) => {
    const { status, text } = await get(report, input);
    expect(status, text).toBe(200);
    const answer: unknown = JSON.parse(withoutMoment(text));
    const what = JSON.stringify([report, input]);
    // The store answers the command as it answers the server, so in the quick run a third of the cases is enough.
    const isRun = isDeep || CASES.findIndex(([, one]) => one === input) % 3 === 1;
    for (const more of isRun ? [[], ['--url', server.url]] : [])
      expect(
        JSON.parse(withoutMoment((await succeed(stats(report, input, '--json', ...more))).stdout)),
        what,
      ).toEqual(answer);
    await expectOfTool(mcp, report, input, text);
    const asked = { projectId: project, ...input } as object as Parameters<typeof reader.series>[0];
    const read = { totals: reader.callerStats, series: reader.series, callers: reader.callers }[report];
    expect(JSON.parse(withoutMoment(JSON.stringify(await read(asked)))), what).toEqual(answer);
    if (!isRun) return;
    if (report === 'totals') {
      const { stdout } = await succeed(stats(report, input, '--csv'));
      const [names = '', values = ''] = withoutMoment(stdout).trim().split('\r\n');
      expect(
        Object.fromEntries(names.split(',').map((name, at) => [name, values.split(',')[at]])),
        what,
      ).toEqual(flat(answer as Record<string, unknown>));
      return;
    }
    const csv = await get(report, input, 'text/csv');
    const printed = await stats(report, input, '--csv');
    if (report === 'callers' && input.compare !== undefined)
      expect([csv.status, printed.status], what).toEqual([400, 1]);
    else expect([200, withoutMoment(csv.text)], what).toEqual([csv.status, withoutMoment(printed.stdout)]);
  });
});

test('the dashboard shows the same answers', async () => {
  const { get, server, token } = service();
  const ref = { path: `${server.url}/api/shared/${token}` };
  let count = 0;
  for (const [report, input] of CASES) {
    const shown = await readDashboard(ref, report, input);
    // The dashboard selects either no bounds or two, in its own time zone.
    if (shown === undefined) {
      expect(input.to).toBeUndefined();
      continue;
    }
    count += 1;
    const { text } = await get(report, input);
    const expected: unknown = JSON.parse(withoutMoment(text));
    expect(JSON.parse(withoutMoment(JSON.stringify(shown))), JSON.stringify([report, input])).toEqual(
      expected,
    );
  }
  expect(count).toBe(CASES.length - 1);
});

/** Without the moment until which a range that is not over is compared: that of the request. All other times are quarter hours. */
function withoutMoment(text: string): string {
  return text.replaceAll(/\d{4}-\d\d-\d\dT\d\d:(?!(?:00|15|30|45):00\.000)[\d:.]+[+-]\d\d:\d\d/g, 'now');
}

test('the panels of Grafana show the same answers', async () => {
  const { get, server, key } = service();
  // Grafana sends bounds, which have no period before, and its weeks begin on Monday.
  const isAsked = ({ weekStart, period = '', compare }: Input): boolean =>
    weekStart === undefined && (compare !== 'previous' || /^(last-\d+-days|)$/.test(period));
  for (const [report, input] of CASES.filter(([, one]) => isAsked(one))) {
    const answer = JSON.parse((await get(report, input)).text) as Answer;
    expect(await readGrafana(server, key, report, input, answer), JSON.stringify([report, input])).toEqual(
      panelsOf(report, input, answer),
    );
  }
});

/** The report at the address in docs/guides/read/reading.md, read like a spreadsheet: without any header. */
async function readShared(): Promise<string> {
  const page = readFileSync(new URL('../../../docs/guides/read/reading.md', import.meta.url), 'utf8');
  const address = /<!-- address -->\n```\n(\S+)\n```/.exec(page)?.[1] ?? '';
  // The recipes for programs have the same address, as it is or in parts.
  expect(page.split(address).length).toBeGreaterThan(4);
  const { server, token } = service();
  const response = await fetch(
    address.replace('https://stats.example.org', server.url).replace('TOKEN', token),
  );
  expect(response.headers.get('content-type')).toContain('text/csv');
  return response.text();
}

/** The samples of docs/guides/read/reading.md that make a report by caller. */
const reports = [
  ...readFileSync(new URL('../../../docs/guides/read/reading.md', import.meta.url), 'utf8').matchAll(
    /<!-- report -->\n```sh\n([\s\S]*?)```/g,
  ),
].map(([, code = '']) => code);

test('the reports in the docs equal a recount with the time zones of the platform', async () => {
  const { place, server } = service();
  expect(reports).toHaveLength(2);
  const month = (time: number | string) => localUnit(Number(new Date(time)), 'month', 'Europe/Berlin');
  const printed = reports.map(async (code) => {
    const here = code.replaceAll('http://127.0.0.1:4000', server.url).replaceAll(/\bdemo\b/g, project);
    const script = `caller-stats() { ${programInShell} "$@"; }\n${here}`;
    const run = runCommand('bash', ['--norc', '-c', script], {
      env: { ...place.env, CALLER_STATS_KEY: service().key },
    });
    return (await succeed(run)).stdout;
  });
  for (const csv of [...(await Promise.all(printed)), await readShared()]) {
    const [head = '', ...rows] = csv.trim().split('\r\n');
    expect(rows).toHaveLength(12);
    const callers = head
      .split(',')
      .slice(3)
      .map((column) => column.replace('caller.', ''));
    expect(callers).toEqual(
      callers.toSorted(
        (one, other) => Number(one === '(rest)') - Number(other === '(rest)') || (one < other ? -1 : 1),
      ),
    );
    for (const row of rows) {
      const [start = '', end = '', ...counts] = row.split(',');
      const ofMonth = queries.filter(({ occurredAt }) => month(occurredAt) === month(start));
      const countOf = (caller: string) =>
        ofMonth.filter((one) => (caller === '(rest)' ? !callers.includes(one.caller) : one.caller === caller))
          .length;
      expect(counts.map(Number)).toEqual([ofMonth.length, ...callers.map(countOf)]);
      expect(month(end)).not.toBe(month(start));
    }
    expect(month(rows.at(-1)?.split(',')[1] ?? '')).toBe(month(nowMs));
  }
});

describe('the answers', () => {
  const jsonOf = async <T>(report: ReportName, input: Input): Promise<T> =>
    JSON.parse((await service().get(report, input)).text) as T;

  test('by caller equal a recount with the time zones of the platform', async () => {
    const series = await jsonOf<Required<Series>>('series', {
      interval: 'month',
      period: 'last-12-months',
      timeZone: zone,
      by: 'caller',
    });
    const months = series.buckets.map(({ start }) => localUnit(Date.parse(start), 'month', zone));
    expect(months).toHaveLength(12);
    expect(localUnit(Date.parse(series.buckets.at(-1)?.end ?? ''), 'month', zone)).toBe(
      localUnit(nowMs, 'month', zone),
    );
    const counted = queries.map(({ caller, occurredAt }) => ({
      caller,
      month: localUnit(Date.parse(occurredAt), 'month', zone),
    }));
    const countsOf = (matches: (caller: string) => boolean) =>
      months.map((month) => counted.filter((one) => matches(one.caller) && one.month === month).length);
    expect(series.callers).toHaveLength(20);
    for (const { caller, type, counts } of series.callers) {
      expect([caller, type, counts]).toEqual([caller, callerType(caller), countsOf((one) => one === caller)]);
    }
    const listed = new Set(series.callers.map(({ caller }) => caller));
    expect(series.rest.counts).toEqual(countsOf((one) => !listed.has(one)));
    expect(series.rest.callers).toBeGreaterThan(0);
    const parts = [...series.callers, series.rest].map(({ counts }) => counts);
    expect(series.buckets.map(({ total }) => total)).toEqual(
      months.map((_, at) => parts.reduce((sum, counts) => sum + (counts[at] ?? 0), 0)),
    );
  });

  test('of one caller add up to all, and a comparison equals two counts', async () => {
    const input = { period: 'last-90-days', timeZone: zone } as const;
    const all = await jsonOf<Counts>('totals', input);
    const { callers } = await jsonOf<{ callers: { caller: string }[] }>('callers', input);
    const each = await Promise.all(
      callers.map(({ caller }) => jsonOf<Counts>('totals', { ...input, caller })),
    );
    const sum = (field: keyof Counts) => each.reduce((total, counts) => total + counts[field], 0);
    expect({ web: sum('web'), api: sum('api'), other: sum('other'), total: sum('total') }).toEqual(all);
    for (const compare of ['previous', 'previous-year']) {
      const { previous, ...counts } = await jsonOf<
        Counts & { previous: Counts & { dateFrom: string; dateTo: string } }
      >('totals', { ...input, compare });
      expect(counts).toEqual(all);
      const { dateFrom: from, dateTo: to, ...compared } = previous;
      expect(await jsonOf('totals', { from, to })).toEqual(compared);
    }
  });
});
