import { callerCharactersMax } from '../limits.js';

/** The three kinds a query counts as (contract, part 1). */
export const CALLER_TYPES = ['web', 'api', 'other'] as const;

export type CallerType = (typeof CALLER_TYPES)[number];

/** Source of the pattern that a caller's name matches: `web`, `api`, or the name of an integration or SDK. */
export const CALLER_PATTERN = `^[a-z0-9._-]{1,${callerCharactersMax}}$`;

const pattern = new RegExp(CALLER_PATTERN);

export function isCallerName(name: string): boolean {
  return pattern.test(name);
}

/** The one rule from name to type (contract, part 3): `web` is web, `api` is api, everything else is other. */
export function callerType(caller: string): CallerType {
  return caller === 'web' || caller === 'api' ? caller : 'other';
}
