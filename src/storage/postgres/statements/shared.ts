/** What statements of several themes are made of. */
import { bucketWidthMs, ROW_LEVELS } from '../../../domain/counting/buckets.js';

export const widestRowLevel = Math.max(...ROW_LEVELS);

/** The levels whose counters do not include the rows of a level, with their widths. */
export const narrowerThan = (rowLevel: number) => {
  const levels = Array.from(
    { length: rowLevel },
    (_, level) => `(${level}, ${bucketWidthMs(level)}::bigint)`,
  );
  return `(VALUES ${levels.join(', ')}) AS narrower (level, ms)`;
};

/** Division truncates, so a negative remainder is made positive first. */
export const bucketOf = (time: string, ms: string) =>
  `(${time} - ((${time} % ${ms}) + ${ms}) % ${ms}) / ${ms}`;

const COUNT_WEB = "count(*) FILTER (WHERE caller = 'web')";
const COUNT_API = "count(*) FILTER (WHERE caller = 'api')";
/** The numbers of rows by caller type. */
export const COUNTS = { web: COUNT_WEB, api: COUNT_API, other: `count(*) - ${COUNT_WEB} - ${COUNT_API}` };

/** What `find_access` has found, as one text. */
export const ACCESS_STAMP = `encode(sha256(convert_to((schema_version, found_key, found_project)::text, 'UTF8')), 'hex')`;

/** Whether a row is not withdrawn. */
export const isCounted = 'coalesce(level, 0) >= 0';

/** Whether there is the project $1. */
export const projectExistsIn = (schema: string) =>
  `EXISTS (SELECT FROM ${schema}.project WHERE project.id = $1 AND deleted_at IS NULL)`;
