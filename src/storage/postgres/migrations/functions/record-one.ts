/**
 * The function `record_one`, of version 31: `record` for one query, which always has a receipt. Released: never change it.
 *
 * It returns whether the query is new, or null if there is no such project. Most of the time of a small call goes into the start of
 * each statement and into parameters that are arrays, so it has few of the former and none of the latter.
 */
import {
  ADD_BY_CALLER,
  ADD_BY_TYPE,
  bucketOf,
  busyQueries,
  CONFIRM,
  numberOf,
  numberReceipt,
  refuseOld,
  SYNCHRONOUS,
  shareLock,
  WIDTHS,
  ZERO,
} from './recording.js';

const setBucket = (level: number): string =>
  `bucket_${level} := ${bucketOf('new_time', WIDTHS[level] ?? 0)};`;

/** Whether a counter of the query has so many queries. Without a counter, null. */
const isBusy = (schema: string, level: number, queries: number): string =>
  `(SELECT web + api + other >= ${queries} FROM ${schema}.caller_type_counter
          WHERE project_id = asked_project AND level = ${level} AND bucket = bucket_${level})`;

/** The rows of the levels from `first` on. */
const rows = (first: number, values: string): string =>
  WIDTHS.map((_, level) => level)
    .slice(first)
    .map((level) => {
      const bucket = level === 0 ? 'new_time' : `bucket_${level}`;
      return `(asked_project, ${level}, ${bucket}${level === first ? ` + ${ZERO}` : ''}, ${values})`;
    })
    .join(',\n        ');

const count = (schema: string, first: number): string => `
      INSERT INTO ${schema}.caller_type_counter AS kept (project_id, level, bucket, web, api, other)
      VALUES
        ${rows(first, 'is_web, is_api, is_other')}
      ${ADD_BY_TYPE};
      IF is_other = 1 THEN
        INSERT INTO ${schema}.caller_counter AS kept (project_id, level, bucket, caller, queries)
        VALUES
        ${rows(first, 'new_caller, 1')}
        ${ADD_BY_CALLER};
      END IF;`;

/** No counter of 10 seconds has more queries than that of their 15 minutes, so it is looked at only if these are busy. */
export const recordOne = (schema: string): string => `
  CREATE FUNCTION ${schema}.record_one(
    asked_project text, new_id bytea, new_time bigint, new_caller text, new_day integer, new_sender text
  ) RETURNS boolean LANGUAGE plpgsql AS $function$
  DECLARE
    kept_from bigint;
    new_level smallint;
    receipt_number integer;
    next_number integer;
    ${[1, 2, 3, 4, 5].map((level) => `bucket_${level} bigint;`).join(' ')}
    is_web integer;
    is_api integer;
    is_other integer;
  BEGIN${shareLock(schema)}
    ${setBucket(1)}
    ${setBucket(2)}
    SELECT rows_from,
      CASE
        WHEN ${isBusy(schema, 2, busyQueries.quarter)}
        THEN CASE
          WHEN ${isBusy(schema, 1, busyQueries.tenSeconds)}
          THEN 0 ELSE 1
        END
        ELSE 2
      END,
      ${numberOf(schema, 'new_day', 'new_sender', 'coalesce(project.receipt_fence, 0)')}
    INTO kept_from, new_level, receipt_number
    FROM ${schema}.project WHERE project.id = asked_project AND deleted_at IS NULL;
    IF NOT FOUND THEN
      RETURN NULL;
    END IF;
    IF kept_from > new_time THEN${refuseOld('kept_from')}
    END IF;${SYNCHRONOUS}${numberReceipt(schema, 'new_day', 'new_sender')}
    INSERT INTO ${schema}.query (project_id, id, occurred_at, caller, level, receipt)
    VALUES (asked_project, new_id, new_time + ${ZERO}, new_caller, new_level, receipt_number)
    ON CONFLICT (project_id, id) DO NOTHING;
    IF NOT FOUND THEN
      ${CONFIRM}
      RETURN false;
    END IF;
    is_web := (new_caller = 'web')::integer;
    is_api := (new_caller = 'api')::integer;
    is_other := 1 - is_web - is_api;
    ${[3, 4, 5].map(setBucket).join('\n    ')}
    IF new_level = 2 THEN${count(schema, 2)}
    ELSIF new_level = 1 THEN${count(schema, 1)}
    ELSE${count(schema, 0)}
    END IF;
    RETURN true;
  END
  $function$;
`;
