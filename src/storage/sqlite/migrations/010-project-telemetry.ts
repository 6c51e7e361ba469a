/** The OpenTelemetry settings of projects. Released: never change it. */
export const SQL = `
  ALTER TABLE project ADD COLUMN otlp_query TEXT;
  ALTER TABLE project ADD COLUMN otlp_id TEXT;
  ALTER TABLE project ADD COLUMN otlp_caller TEXT;
  ALTER TABLE project ADD COLUMN otlp_default_caller TEXT;
  ALTER TABLE project ADD COLUMN otlp_site_origins TEXT;
  `;
