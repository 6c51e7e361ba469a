/**
 * The projects whose rows have an end of life. The reader asks whether there is something to do, and the writer does it. Not while
 * a correction is carried out, which needs the rows.
 */
import { bucketWidthMs } from '../../domain/counting/buckets.js';
import { COUNTED_LEVEL } from '../../domain/projects/retention.js';

/** The state of a project's retention. During a sweep, `sweptTo` is the id of the last query it looked at. */
export interface Retention {
  readonly number: number;
  readonly id: string;
  readonly retentionDays: number | null;
  readonly rowsFrom: number | null;
  readonly sweptTo: string | Uint8Array | null;
  /** See `nextRowsFrom`. */
  readonly lastCounted: number | null;
}

/** Projects that may need retention. */
export const RETENTIONS = `
  SELECT number, id, retention_days AS retentionDays, rows_from AS rowsFrom, swept_to AS sweptTo,
    (SELECT max(bucket) FROM query_counter WHERE project = project.number AND level = ${COUNTED_LEVEL}
      AND bucket < rows_from / ${bucketWidthMs(COUNTED_LEVEL)}) AS lastCounted
  FROM project
  WHERE (retention_days IS NOT NULL OR rows_from IS NOT NULL OR swept_to IS NOT NULL)
    AND NOT EXISTS (SELECT 1 FROM correction WHERE correction.project = project.number AND finished_at IS NULL)
  ORDER BY number`;
