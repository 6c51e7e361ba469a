import { formatTime } from '../format.js';
import { projectIdCharactersMax } from '../limits.js';
import type { OwnTelemetryTexts } from '../queries/telemetry-settings.js';
import { failure, type Result, success } from '../result.js';
import type { WeekStart } from '../time/calendar.js';

/** One documentation site whose assistant's queries are counted. */
export interface Project extends OwnTelemetryTexts {
  /** Appears in URLs. Unique across all organizations. */
  readonly id: string;
  readonly organizationId: string;
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** The IANA time zone that the dashboard shows counts in; null for the reader's own. */
  readonly timeZone: string | null;
  /** The day on which weeks begin in its reports, unless a request says otherwise; null for Monday. */
  readonly weekStart: WeekStart | null;
  /** Days after which the rows of queries are removed (see `retention.ts`); null keeps them forever. */
  readonly retentionDays: number | null;
  /** Senders' queries from before this time, in milliseconds, are refused; null if none are, but those before 2000 flagged. */
  readonly earliestAt: number | null;
  /** Queries before this time, in milliseconds, are counted but no longer have rows; null if all still have theirs. */
  readonly rowsFrom: number | null;
}

export type NewProject = Omit<Project, 'rowsFrom'>;

/** The form of a project id, without anchors, to be part of a longer pattern. */
const PROJECT_ID_FORM = `[A-Za-z0-9][A-Za-z0-9_-]{0,${projectIdCharactersMax - 1}}`;

export const PROJECT_ID_PATTERN = `^${PROJECT_ID_FORM}$`;

const projectId = new RegExp(PROJECT_ID_PATTERN);

export function isProjectId(id: string): boolean {
  return projectId.test(id);
}

/** Parses the id of a new organization or project. */
export function parseNewId(text: string): Result<string> {
  return isProjectId(text)
    ? success(text)
    : failure(
        `is not 1 to ${projectIdCharactersMax} letters, digits, - and _, beginning with a letter or digit`,
      );
}

/** The problem of a query from before the earliest time; undefined if there is none. */
export function earliestProblem(
  { earliestAt }: Pick<Project, 'earliestAt'>,
  occurredAt: number,
): string | undefined {
  if (earliestAt === null || occurredAt >= earliestAt) return undefined;
  return `occurredAt: lies before ${formatTime(earliestAt)}, the earliest time that the settings of the project allow`;
}

/** What the audit log calls the fields that can change, and a field without a value. */
const CHANGES = {
  name: ['name', ''],
  timeZone: ['time zone', 'none'],
  weekStart: ['first day of the week', 'Monday'],
  retentionDays: ['retention in days', 'none'],
  earliestAt: ['earliest time', 'none'],
  otlpQuery: ['OpenTelemetry rules', "the server's"],
  otlpId: ['OpenTelemetry id', "the server's"],
  otlpCaller: ['OpenTelemetry caller attribute', "the server's"],
  otlpDefaultCaller: ['OpenTelemetry default caller', "the server's"],
  otlpSiteOrigins: ['OpenTelemetry site origins', "the server's"],
} as const;

/** New values for fields of a project. Fields left out do not change. */
export type ProjectChange = Partial<Pick<Project, keyof typeof CHANGES>>;

/** Applies a change. `detail` (`name: Docs, now Handbook`) is for the audit log; it is empty if nothing changed. */
export function applyChange(project: Project, change: ProjectChange): { project: Project; detail: string } {
  const changed = { ...project, ...change };
  const fields = Object.keys(CHANGES) as (keyof typeof CHANGES)[];
  const details = fields
    .filter((field) => project[field] !== changed[field])
    .map((field) => {
      const [label, none] = CHANGES[field];
      const show = (of: Project) =>
        field === 'earliestAt' && of.earliestAt !== null ? formatTime(of.earliestAt) : (of[field] ?? none);
      return `${label}: ${show(project)}, now ${show(changed)}`;
    });
  return { project: changed, detail: details.join('; ') };
}
