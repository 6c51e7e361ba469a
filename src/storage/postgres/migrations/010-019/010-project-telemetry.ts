/** The OpenTelemetry settings of projects, as JSON. Released: never change it. */
export const sql = (schema: string): readonly string[] => [
  `ALTER TABLE ${schema}.project ADD COLUMN telemetry text;`,
];
