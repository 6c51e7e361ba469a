/** The OpenTelemetry settings of a project that says nothing else. A file without imports, because the dashboard shows them. */
export const TELEMETRY_DEFAULTS = {
  otlpQuery: 'default',
  otlpId: 'question',
  otlpCaller: 'caller_stats.caller',
  otlpDefaultCaller: 'unknown',
  otlpSiteOrigins: 'none',
} as const;
