/** The OpenTelemetry settings of projects, as JSON. Released: never change it. */
export const SQL = 'ALTER TABLE project ADD COLUMN telemetry TEXT;';
