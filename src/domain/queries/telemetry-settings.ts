/** The settings of a project that say which spans and log records of OpenTelemetry are queries. */
import { BoundedCache } from '../../shared/bounded-cache.js';
import { CallerStatsError } from '../errors.js';
import { telemetryTextCharactersMax } from '../limits.js';
import { failure, type Result, success } from '../result.js';
import { CALLER_FORM, isCallerName } from './caller.js';
import { type CallerRules, callerRulesProblems } from './caller-detection.js';
import { TELEMETRY_DEFAULTS } from './telemetry-defaults.js';
import { type Condition, KNOWN_RULES, type QueryRule } from './telemetry-rules.js';

/**
 * What tells queries apart: all that is known of them (see `query-identity.ts`), or only the trace, the span or an
 * attribute. There is no fallback from the last three to another: if only some spans of a query had the attribute, the
 * query would become two queries.
 */
export type IdSource = 'question' | 'trace' | 'span' | { readonly attribute: string };

export interface TelemetryRules {
  /** A record belongs to a query if any of these rules says so. */
  readonly queries: readonly QueryRule[];
  readonly id: IdSource;
  /** The attribute that names the caller, of the record or otherwise of its resource. */
  readonly callerAttribute: string;
  /** How to detect the caller from header attributes if no attribute names it. */
  readonly detection: CallerRules;
}

/** The parsers of the settings. Problems continue a sentence that begins with the setting's name. */
const PARSERS = {
  otlpQuery: parseQueryRules,
  otlpId: parseIdSource,
  otlpCaller: parseAttributeName,
  otlpDefaultCaller: parseDefaultCaller,
  otlpSiteOrigins: parseSiteOrigins,
} as const;

export type TelemetrySetting = keyof typeof PARSERS;

/** The names of the settings: `otlpQuery` is `project change --otlp-query`. */
export const TELEMETRY_SETTINGS = Object.keys(PARSERS) as TelemetrySetting[];

export type TelemetryTexts = { readonly [Name in TelemetrySetting]: string };

/** The texts of a project; null where the default applies. */
export type OwnTelemetryTexts = { readonly [Name in TelemetrySetting]: string | null };

export function mapTelemetrySettings<T>(map: (name: TelemetrySetting) => T): {
  readonly [Name in TelemetrySetting]: T;
} {
  return Object.fromEntries(TELEMETRY_SETTINGS.map((name) => [name, map(name)])) as {
    [Name in TelemetrySetting]: T;
  };
}

/** Checks a text of a project, which is stored, and shown in lists and in the audit log. */
export function parseTelemetryText(name: TelemetrySetting, text: string): Result<string> {
  if (text.length > telemetryTextCharactersMax)
    return failure(`is longer than ${telemetryTextCharactersMax} characters`);
  if (/\p{Cc}|\p{Cs}/u.test(text)) return failure('has a control character');
  const parsed = PARSERS[name](text);
  return parsed.ok ? success(text) : parsed;
}

/** More than the different texts in use. */
const rulesMax = 1000;

/** Finds the rules of projects: by their own texts, and by the defaults where they have none. */
export class ProjectRules {
  /** By the texts, so that a request does not parse them again. */
  readonly #rules = new BoundedCache<string, TelemetryRules>(rulesMax);

  /** Throws `unavailable` for an invalid text, which only another version of this program can have stored. */
  find(own: OwnTelemetryTexts): TelemetryRules {
    const find = (name: TelemetrySetting) => own[name] ?? TELEMETRY_DEFAULTS[name];
    const key = JSON.stringify(TELEMETRY_SETTINGS.map(find));
    return this.#rules.getOrCreate(key, () => parseRules(mapTelemetrySettings(find)));
  }
}

function parseRules(texts: TelemetryTexts): TelemetryRules {
  return {
    queries: requireValid('otlpQuery', parseQueryRules(texts.otlpQuery)),
    id: requireValid('otlpId', parseIdSource(texts.otlpId)),
    callerAttribute: requireValid('otlpCaller', parseAttributeName(texts.otlpCaller)),
    detection: {
      siteOrigins: requireValid('otlpSiteOrigins', parseSiteOrigins(texts.otlpSiteOrigins)),
      fallback: requireValid('otlpDefaultCaller', parseDefaultCaller(texts.otlpDefaultCaller)),
    },
  };
}

/** Counting by other rules would be wrong for ever, whereas senders repeat what is refused for now. */
function requireValid<T>(name: TelemetrySetting, parsed: Result<T>): T {
  if (parsed.ok) return parsed.value;
  throw new CallerStatsError(
    'unavailable',
    `The project's setting ${name} ${parsed.problems.join('; ')}. Change it, or start the version of caller-stats that stored it.`,
  );
}

/** The rules below use `=`, `,` and `;` as separators. */
const attributeName = /^[^\s=,;]{1,255}$/;

/** Where another condition begins, as in `http.route=/ask & http.request.method=POST`. Any other `&` is one of a value. */
const joint = /\s*&\s*(?=[^\s=,;&]+\.[^\s=,;&]+=)/;

/**
 * Parses the setting that says which records are queries: `name=value,value`, or the name alone for any value, or several of these
 * with `&` between; or `default` for the known instrumentations; several rules with `;` between.
 */
export function parseQueryRules(text: string): Result<readonly QueryRule[]> {
  const rules = text.split(';').map((rule) => (rule === 'default' ? KNOWN_RULES : parseQueryRule(rule)));
  const known = rules.filter((rule) => rule !== undefined);
  return known.length === rules.length
    ? success([...new Set(known.flat())])
    : failure('is not an attribute and its values, as gen_ai.operation.name=invoke_agent, or default');
}

function parseQueryRule(text: string): QueryRule[] | undefined {
  const [first, ...and] = text.split(joint).map(parseCondition);
  if (first === undefined || !and.every((condition) => condition !== undefined)) return undefined;
  return [and.length === 0 ? first : { ...first, and }];
}

function parseCondition(text: string): Condition | undefined {
  const [attribute = '', ...rest] = text.split('=');
  const values = rest.length === 0 ? [] : rest.join('=').split(',');
  return attributeName.test(attribute) && !values.includes('') ? { attribute, values } : undefined;
}

/** Parses the setting of the id: `question`, `trace`, `span` or the name of an attribute. */
export function parseIdSource(text: string): Result<IdSource> {
  if (text === 'question' || text === 'trace' || text === 'span') return success(text);
  return attributeName.test(text)
    ? success({ attribute: text })
    : failure('is neither question, trace, span nor the name of an attribute');
}

export function parseAttributeName(text: string): Result<string> {
  return attributeName.test(text) ? success(text) : failure('is not the name of an attribute');
}

function parseDefaultCaller(text: string): Result<string> {
  return isCallerName(text) ? success(text) : failure(`is not ${CALLER_FORM}`);
}

/** Parses a comma-separated list of the documentation site's origins, or `none`. */
export function parseSiteOrigins(text: string): Result<readonly string[]> {
  if (text === 'none') return success([]);
  const siteOrigins = text.split(',').map((origin) => origin.trim());
  return callerRulesProblems({ siteOrigins }).length === 0
    ? success(siteOrigins)
    : failure('is not a list of origins such as https://docs.example.com or https://*.example.com');
}
