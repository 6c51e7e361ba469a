/** The Grafana dashboard as a way of reading: the rows of its panels, and those that an answer of the API means. */
import { readFileSync } from 'node:fs';
import type { CallerCounts, Counts } from '../../../src/domain/counting/counts.js';
import { parseCountsRequest } from '../../../src/domain/counting/report-request.js';
import type { Series } from '../../../src/domain/counting/series.js';
import { dayMs } from '../../../src/domain/time/duration.js';
import { project } from '../cli/cli-place.js';
import { asking, type Dashboard, type Query, type Row } from '../cli/grafana.js';
import { type Input, nowMs, type ReportName } from './cases.js';

export type Answer = Counts & CallerCounts & Series;

const { panels } = JSON.parse(
  readFileSync(new URL('../../../integrations/grafana/caller-stats.json', import.meta.url), 'utf8'),
) as Dashboard;
const [totals, before, series, byCaller, callers, ofCaller, seriesOfCaller] = panels.map(
  ({ targets: [query] }) => query,
);

/** What the panels show: the report, and the counts of the range to compare with, which are those of all callers. */
interface Panels {
  readonly rows: readonly Row[];
  readonly before?: readonly Row[];
}

/** The rows of the panels that show the report. A range without bounds becomes that of the answer. */
export async function readGrafana(
  server: { readonly url: string },
  key: string,
  report: ReportName,
  input: Input,
  answer: Answer,
): Promise<Panels> {
  const { timeZone = 'utc', interval = 'day', compare, caller } = input;
  const { from, to } = rangeOf(report, input, answer);
  const ask = asking(server, key, {
    project,
    interval,
    compare: compare ?? 'previous',
    caller: caller ?? '',
    __timezone: timeZone,
    '__timeFrom:date:iso': from,
    '__timeTo:date:iso': to,
  });
  const ofAll = { totals, callers, series: input.by === undefined ? series : byCaller };
  const query: Query | undefined =
    caller === undefined ? ofAll[report] : { totals: ofCaller, callers, series: seriesOfCaller }[report];
  const rows = await ask(query);
  return compare === undefined || caller !== undefined ? { rows } : { rows, before: await ask(before) };
}

function rangeOf(report: ReportName, input: Input, { buckets }: Answer) {
  const asked = parseCountsRequest(input, { nowMs });
  if (!asked.ok) throw new Error('the question has no range');
  const { range } = asked.value;
  // Grafana always selects two bounds; these include all queries.
  const whole = { from: Date.UTC(2000), to: nowMs + dayMs };
  const first = report === 'series' ? Date.parse(buckets[0]?.start ?? '') : whole.from;
  const end = report === 'series' ? Date.parse(buckets.at(-1)?.end ?? '') : whole.to;
  const isOpen = range.to > whole.to;
  return {
    from: new Date(range.from < whole.from ? first : range.from).toISOString(),
    to: new Date(isOpen ? end : range.to).toISOString(),
  };
}

/** The rows that an answer means. */
export function panelsOf(report: ReportName, { caller }: Input, answer: Answer): Panels {
  const { previous, buckets } = answer;
  const series = () =>
    caller === undefined
      ? barsOf(answer)
      : buckets.map(({ start, total }) => ({ time: new Date(start), total }));
  return {
    rows: { totals: () => [countsOf(answer)], callers: () => answer.callers, series }[report](),
    ...(previous === undefined || caller !== undefined ? {} : { before: [countsOf(previous)] }),
  } as Panels;
}

function countsOf({ web, api, other, total }: Counts): Row {
  return { web, api, other, total };
}

function barsOf({ buckets, callers: named, rest }: Series): Row[] {
  const times = buckets.map(({ start }) => new Date(start));
  if (named === undefined || rest === undefined)
    return buckets.map(({ web, api, other }, at) => ({ time: times[at] ?? '', web, api, other }));
  const all = [...named, ...(rest.callers > 0 ? [{ caller: '(rest)', counts: rest.counts }] : [])];
  return times.flatMap((time, at) =>
    all.map(({ caller, counts }) => ({ time, caller, count: counts[at] ?? Number.NaN })),
  );
}
