import { callerCharactersMax } from '../limits.js';

/** The one list of caller types. Counts, CSV headers and sums derive from it. */
export const CALLER_TYPES = ['web', 'api', 'other'] as const;

/** The names of the types in the dashboard. */
export const CALLER_TYPE_NAMES: Readonly<Record<CallerType, string>> = {
  web: 'Web',
  api: 'API',
  other: 'Other',
};

/** What each type counts, for people. */
export const CALLER_TYPE_DESCRIPTIONS: Readonly<Record<CallerType, string>> = {
  web: 'Queries from the documentation site.',
  api: 'Queries from direct API calls.',
  other: 'Queries from other sources, such as integrations and SDKs.',
};

export type CallerType = (typeof CALLER_TYPES)[number];

/** The types with a single caller, which has the name of its type. */
export const SINGLE_CALLER_TYPES = CALLER_TYPES.filter((type) => type !== 'other');

/** The pattern of a caller's name: `web`, `api`, or the name of an integration or SDK. */
export const CALLER_PATTERN = `^[a-z0-9._-]{1,${callerCharactersMax}}$`;

/** Describes that pattern in messages. */
export const CALLER_FORM = `"web", "api" or a name of 1 to ${callerCharactersMax} of a-z 0-9 . _ -`;

/** The callers in the descriptions of the API. */
export const CALLER_DESCRIPTION = '`web`, `api`, or the name of an integration or SDK';

const pattern = new RegExp(CALLER_PATTERN);

export function isCallerName(name: string): boolean {
  return pattern.test(name);
}

/** The type of a caller, by the one rule of docs/concepts/queries.md. */
export function callerType(caller: string): CallerType {
  return SINGLE_CALLER_TYPES.find((type) => type === caller) ?? 'other';
}
