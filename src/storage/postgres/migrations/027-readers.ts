/** Members who may read only certain projects, and which: their ids, with commas. Released: never change it. */
export const sql = (schema: string): readonly string[] =>
  ['member', 'invitation'].flatMap((table) => [
    `ALTER TABLE ${schema}.${table} DROP CONSTRAINT ${table}_role_check`,
    `ALTER TABLE ${schema}.${table} ADD COLUMN projects text COLLATE "C" NOT NULL DEFAULT ''`,
    `ALTER TABLE ${schema}.${table} ADD CONSTRAINT ${table}_role_check
      CHECK (role IN ('owner', 'editor', 'viewer', 'reader') AND (projects = '' OR role = 'reader'))`,
  ]);
