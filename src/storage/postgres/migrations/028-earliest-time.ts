/**
 * The time before which a project refuses queries, null for none; and kinds and channels of notifications that only the program
 * checks, so that a new one needs no migration. Released: never change it.
 */
export const sql = (schema: string): readonly string[] => [
  `ALTER TABLE ${schema}.project ADD COLUMN earliest_at bigint`,
  `ALTER TABLE ${schema}.notification DROP CONSTRAINT notification_kind_check`,
  `ALTER TABLE ${schema}.notification DROP CONSTRAINT notification_channel_check`,
];
