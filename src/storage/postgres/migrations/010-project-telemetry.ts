/** The OpenTelemetry settings of projects. Released: never change it. */
export const sql = (schema: string): string => `
  ALTER TABLE ${schema}.project
    ADD COLUMN otlp_query text,
    ADD COLUMN otlp_id text,
    ADD COLUMN otlp_caller text,
    ADD COLUMN otlp_default_caller text,
    ADD COLUMN otlp_site_origins text;
  `;
