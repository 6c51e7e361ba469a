import { nameCharactersMax, projectIdCharactersMax } from '../limits.js';

/** Owns projects and keys. */
export interface Organization {
  readonly id: string;
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

/** One documentation site whose assistant's queries are counted. */
export interface Project {
  /** What stands in URLs. Unique over all organizations. */
  readonly id: string;
  readonly organizationId: string;
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** Whose days, weeks and months people see its counts by: an IANA name, or null for the reader's own. */
  readonly timeZone: string | null;
  /** Days after which the rows of its queries are removed (see `retention.ts`); null keeps them for ever. */
  readonly retentionDays: number | null;
  /** Queries from before this time, in milliseconds, are counted but have no rows any more; null where all have theirs. */
  readonly rowsFrom: number | null;
}

/** A project as it is made: with nothing in it. */
export type NewProject = Omit<Project, 'rowsFrom'>;

/** The organization that every store begins with, and that the command line works in. */
export const DEFAULT_ORGANIZATION_ID = 'default';

/** The form of a project id, without anchors, to be part of a longer pattern. */
export const PROJECT_ID_FORM = `[A-Za-z0-9][A-Za-z0-9_-]{0,${projectIdCharactersMax - 1}}`;

/** Matches a whole project id. */
export const PROJECT_ID_PATTERN = `^${PROJECT_ID_FORM}$`;

const projectId = new RegExp(PROJECT_ID_PATTERN);

export function isProjectId(id: string): boolean {
  return projectId.test(id);
}

/** A character that leaves a mark: a zero-width space, a soft hyphen or an empty letter does not. */
const visible = /[^\s\p{Default_Ignorable_Code_Point}\u{2800}]/u;

/** A name that people gave something: 1 to 100 characters, no control characters, something visible in it. */
export function isName(name: string): boolean {
  return visible.test(name) && [...name].length <= nameCharactersMax && !/\p{Cc}|\p{Cs}/u.test(name);
}

const ID_ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** A new id of 16 characters (80 bits), without letters that are mistaken for others. */
export function generateId(randomInt: (max: number) => number): string {
  return Array.from({ length: 16 }, () => ID_ALPHABET.charAt(randomInt(ID_ALPHABET.length))).join('');
}

/** New values for fields of a project. Fields left out do not change. */
export interface ProjectChange {
  readonly name?: string;
  readonly timeZone?: string | null;
  readonly retentionDays?: number | null;
}

/** Applies a change. `detail` describes it for the audit log; it is empty if nothing changed. */
export function applyChange(project: Project, change: ProjectChange): { project: Project; detail: string } {
  const changed = { ...project, ...change };
  const details = [
    describeChange('name', project.name, changed.name),
    describeChange('time zone', project.timeZone, changed.timeZone),
    describeChange('retention in days', project.retentionDays, changed.retentionDays),
  ];
  return { project: changed, detail: details.filter((one) => one !== '').join('; ') };
}

/** `name: Docs, now Handbook`. */
function describeChange(field: string, before: string | number | null, now: string | number | null): string {
  return before === now ? '' : `${field}: ${before ?? 'none'}, now ${now ?? 'none'}`;
}
