/** Reads the rules of `telemetry.ts` as people write them into settings. Problems go on from the setting's value. */

import { failure, type Result, success } from '../result.js';
import { callerRulesProblems } from './caller-detection.js';
import type { IdSource, TelemetryRules } from './telemetry.js';

/** What a name of an attribute may be made of here: the lists below need `=` and `,` for themselves. */
const attributeName = /^[^\s=,]{1,255}$/;

/** `name=value,value`: an attribute and the values that make a query; the name alone for any value. */
export function parseQueryRule(text: string): Result<TelemetryRules['query']> {
  const at = text.indexOf('=');
  const attribute = at === -1 ? text : text.slice(0, at);
  const values = at === -1 ? [] : text.slice(at + 1).split(',');
  return attributeName.test(attribute) && !values.includes('')
    ? success({ attribute, values })
    : failure('is not an attribute and its values, as gen_ai.operation.name=invoke_agent');
}

/** `trace`, `span`, or the attribute that holds a query's id. */
export function parseIdSource(text: string): Result<IdSource> {
  if (text === 'trace' || text === 'span') return success(text);
  return attributeName.test(text)
    ? success({ attribute: text })
    : failure('is neither trace nor span nor the name of an attribute');
}

export function parseAttributeName(text: string): Result<string> {
  return attributeName.test(text) ? success(text) : failure('is not the name of an attribute');
}

/** Origins of the documentation site, with commas between them. */
export function parseSiteOrigins(text: string): Result<readonly string[]> {
  const siteOrigins = text.split(',').map((origin) => origin.trim());
  return callerRulesProblems({ siteOrigins }).length === 0
    ? success(siteOrigins)
    : failure('is not a list of origins such as https://docs.example.com or https://*.example.com');
}
