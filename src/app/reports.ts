/** The reports on a project's queries: total, over time, and by caller. */
import type { CallerCounts, Counts } from '../domain/counting/counts.js';
import { callersToCsv, countsToCsv, seriesToCsv } from '../domain/counting/csv.js';
import type { CutBounds } from '../domain/counting/cut-bounds.js';
import { type DateRange, parseDateRange } from '../domain/counting/date-range.js';
import {
  parseSeriesRequest,
  type Series,
  type SeriesNames,
  type SeriesRequest,
} from '../domain/counting/series.js';
import { formatTime } from '../domain/format.js';
import type { Project } from '../domain/projects/project.js';
import type { Result } from '../domain/result.js';
import type { Store } from '../storage/ports/store.js';
import { readSeries } from '../storage/series.js';
import { requireProject } from './projects.js';

/** The parameters of a report as the user wrote them. */
export type ReportInput = { readonly [Name in keyof SeriesNames]?: string | undefined };

export interface Report<Question, Answer> {
  /** The path of the same report in the HTTP API, relative to the project's assistant. */
  readonly operation: string;
  /** Returns all problems, each beginning with the parameter's name in `names`. */
  readonly parse: (input: ReportInput, names: SeriesNames) => Result<Question>;
  readonly read: (store: Store, projectId: string, question: Question) => Promise<Answer>;
  readonly toCsv: (answer: Answer) => string;
}

export const CALLER_STATS: Report<DateRange, Counts> = {
  operation: 'caller-stats',
  parse: parseDateRange,
  read: (store, projectId, range) => store.count(projectId, range),
  toCsv: countsToCsv,
};

export const SERIES: Report<SeriesRequest, Series> = {
  operation: 'caller-stats/series',
  parse: parseSeriesRequest,
  read: readSeries,
  toCsv: seriesToCsv,
};

export const CALLERS: Report<DateRange, CallerCounts> = {
  operation: 'callers',
  parse: parseDateRange,
  read: (store, projectId, range) => store.countCallers(projectId, range),
  toCsv: callersToCsv,
};

/** The imported counts that a range counts wholly or not at all, although only a part of their span is within it. */
export async function readCutBounds(
  store: Store,
  projectId: string,
  { from, to }: DateRange,
): Promise<CutBounds> {
  const [dateFrom, dateTo] = await Promise.all(
    [from, to].map(async (bound) => {
      const cut = await store.findCutSpan(projectId, bound);
      return cut === undefined
        ? null
        : { start: formatTime(cut.start), end: formatTime(cut.end), count: cut.count };
    }),
  );
  return { dateFrom: dateFrom ?? null, dateTo: dateTo ?? null };
}

/** A place to read reports from: the store, or a running server. */
export interface ReportSource {
  /**
   * Reads a report. `input` is the unparsed question, for a server. Throws a `CallerStatsError` if the
   * project does not exist, or the server refuses the request or cannot be reached.
   */
  readonly read: <Question, Answer>(
    report: Report<Question, Answer>,
    projectId: string,
    question: Question,
    input: ReportInput,
  ) => Promise<Answer>;
  /** The projects that have reports. A server does not list them. */
  readonly projects?: () => Promise<readonly Project[]>;
}

/** Reads from the store. `listing` is the command or tool that lists projects, for messages. */
export function createStoreSource(store: Store, organizationId: string, listing: string): ReportSource {
  return {
    read: async (report, projectId, question) => {
      await requireProject(store, organizationId, projectId, `; see ${listing}`);
      return report.read(store, projectId, question);
    },
    projects: () => store.listProjects(organizationId),
  };
}
