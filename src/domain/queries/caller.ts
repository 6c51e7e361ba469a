import { callerCharactersMax } from '../limits.js';

/** The one list of caller types (contract, part 1). Counts, CSV headers and sums derive from it. */
export const CALLER_TYPES = ['web', 'api', 'other'] as const;

/** What each type counts, for people. */
export const CALLER_TYPE_DESCRIPTIONS: Readonly<Record<CallerType, string>> = {
  web: 'Queries from the documentation site.',
  api: 'Queries from direct API calls.',
  other: 'Queries from other sources, such as integrations and SDKs.',
};

export type CallerType = (typeof CALLER_TYPES)[number];

/** The pattern of a caller's name: `web`, `api`, or the name of an integration or SDK. */
export const CALLER_PATTERN = `^[a-z0-9._-]{1,${callerCharactersMax}}$`;

const pattern = new RegExp(CALLER_PATTERN);

export function isCallerName(name: string): boolean {
  return pattern.test(name);
}

/** The type of a caller (contract, part 3). */
export function callerType(caller: string): CallerType {
  return caller === 'web' || caller === 'api' ? caller : 'other';
}
