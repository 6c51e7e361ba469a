/** The settings that say which OpenTelemetry spans and log records are queries. Only `settings.ts` reads them. */
import { isCallerName } from '../../domain/queries/caller.js';
import {
  type IdSource,
  parseAttributeName,
  parseIdSource,
  parseQueryRule,
  parseSiteOrigins,
  type TelemetryRules,
} from '../../domain/queries/telemetry.js';
import { failure, success } from '../../domain/result.js';
import { setting } from './setting.js';

export const OTLP_SETTINGS = {
  otlpQuery: setting<TelemetryRules['query']>({
    flag: 'otlp-query',
    environment: 'CALLER_STATS_OTLP_QUERY',
    // What GenAI semantic conventions call an agent's run, and a workflow of agents.
    fallback: 'gen_ai.operation.name=invoke_agent,invoke_workflow',
    placeholder: 'attribute=values',
    description: 'OpenTelemetry spans and log records that are queries: those with one of these values',
    parse: parseQueryRule,
  }),
  otlpId: setting<IdSource>({
    flag: 'otlp-id',
    environment: 'CALLER_STATS_OTLP_ID',
    fallback: 'trace',
    placeholder: 'source',
    description: 'what is one query: a trace, a span, or all that has the same value of this attribute',
    parse: parseIdSource,
  }),
  otlpCaller: setting({
    flag: 'otlp-caller',
    environment: 'CALLER_STATS_OTLP_CALLER',
    fallback: 'caller_stats.caller',
    placeholder: 'attribute',
    description: 'attribute of a span, log record or its resource that names the caller',
    parse: parseAttributeName,
  }),
  otlpDefaultCaller: setting({
    flag: 'otlp-default-caller',
    environment: 'CALLER_STATS_OTLP_DEFAULT_CALLER',
    fallback: 'unknown',
    placeholder: 'caller',
    description: 'caller where neither attributes nor headers tell',
    parse: (text) =>
      isCallerName(text) ? success(text) : failure('is not web, api or a name of 1 to 64 of a-z 0-9 . _ -'),
  }),
  otlpSiteOrigins: setting<readonly string[]>({
    flag: 'otlp-site-origins',
    environment: 'CALLER_STATS_OTLP_SITE_ORIGINS',
    fallback: 'none',
    placeholder: 'origins',
    description: 'origins of the documentation site, as https://docs.example.com: in headers they mean web',
    parse: (text) => (text === 'none' ? success([]) : parseSiteOrigins(text)),
  }),
};

/** What the settings say of spans and log records. */
export function telemetryRulesOf(settings: {
  readonly otlpQuery: TelemetryRules['query'];
  readonly otlpId: IdSource;
  readonly otlpCaller: string;
  readonly otlpDefaultCaller: string;
  readonly otlpSiteOrigins: readonly string[];
}): TelemetryRules {
  return {
    query: settings.otlpQuery,
    id: settings.otlpId,
    callerAttribute: settings.otlpCaller,
    detection: { siteOrigins: settings.otlpSiteOrigins, fallback: settings.otlpDefaultCaller },
  };
}
