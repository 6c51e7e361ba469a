/** The last days of all projects of an organization, as the dashboard shows them. */

/** The period of summaries. */
export const SUMMARY_PERIOD = '30-days-to-date';

/** Local date-times with offsets. */
interface SummaryRange {
  readonly dateFrom: string;
  readonly dateTo: string;
}

export interface ProjectSummary {
  readonly id: string;
  readonly name: string;
  /** The time zone of the days: the project's own, or the one that was asked for. */
  readonly timeZone: string;
  readonly range: SummaryRange;
  /** The range to compare with: a running day is compared with the same part of a day. */
  readonly previous: SummaryRange;
  readonly total: number;
  readonly previousTotal: number;
  /** The queries of each day, oldest first. */
  readonly days: readonly number[];
  /** The time of the first query; null without queries. */
  readonly recordingBegan: string | null;
  /** When the last query occurred, in UTC; null without queries. */
  readonly lastQueryAt: string | null;
}

export interface Summaries {
  /** The busiest project first. */
  readonly projects: readonly ProjectSummary[];
  /** The number of all projects. There may be more than are summarized. */
  readonly projectsTotal: number;
}
