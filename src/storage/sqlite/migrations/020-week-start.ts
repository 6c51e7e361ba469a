/** The day on which the weeks of a project begin; null for Monday. Released: never change it. */
export const SQL = `
  ALTER TABLE project ADD COLUMN week_start TEXT;
`;
