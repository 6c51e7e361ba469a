/** The day on which the weeks of a project begin; null for Monday. Released: never change it. */
export const sql = (schema: string): readonly string[] => [
  `ALTER TABLE ${schema}.project ADD COLUMN week_start text`,
];
