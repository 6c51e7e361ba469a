/**
 * What a query was at the start of a day on which it changed, also if it did not count then, or if corrections had changed it as well.
 * `is_corrected` is null for what was noted before, when corrections were not. Released: never change it.
 */
export const sql = (schema: string): readonly string[] => [
  `ALTER TABLE ${schema}.late_change ADD COLUMN is_withdrawn integer NOT NULL DEFAULT 0`,
  `ALTER TABLE ${schema}.late_change ADD COLUMN is_corrected integer`,
];
