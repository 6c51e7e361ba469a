/** Keys that read one project. Released: never change it. */
export const sql = (schema: string): readonly string[] => [
  `ALTER TABLE ${schema}.api_key DROP CONSTRAINT api_key_type_check`,
  `ALTER TABLE ${schema}.api_key DROP CONSTRAINT api_key_check`,
  `ALTER TABLE ${schema}.api_key ADD CONSTRAINT api_key_type_check CHECK (type IN ('admin', 'recording', 'reading'))`,
  `ALTER TABLE ${schema}.api_key ADD CONSTRAINT api_key_check CHECK ((type = 'admin') = (project_id IS NULL))`,
];
