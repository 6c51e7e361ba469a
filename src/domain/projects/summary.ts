/** The last 30 days of all projects of an organization, as the dashboard shows them. */

interface SummaryRange {
  readonly dateFrom: string;
  readonly dateTo: string;
}

interface ProjectSummary {
  readonly id: string;
  readonly name: string;
  readonly total: number;
  /** The queries of the range to compare with. */
  readonly previousTotal: number;
  /** The queries of each day, oldest first. */
  readonly days: readonly number[];
  /** When the last query occurred; null without queries. */
  readonly lastQueryAt: string | null;
}

export interface Summaries {
  /** The last 30 local days, including today. */
  readonly range: SummaryRange;
  /** The 30 days before, up to the same time of day: a running day is compared with the same part of a day. */
  readonly previous: SummaryRange;
  /** The busiest project first. */
  readonly projects: readonly ProjectSummary[];
  /** The number of all projects. There may be more than are summarized. */
  readonly projectsTotal: number;
}
