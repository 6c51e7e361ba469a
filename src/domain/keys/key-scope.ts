/** What an admin key may do: `read` for GET and HEAD, `write` for the rest, which implies `read`. */
import { failure, quote, type Result, success } from '../result.js';

export const SCOPES = ['read', 'write'] as const;

export type Scope = (typeof SCOPES)[number];

/** Reads scopes of an admin key, as `read`, `write` or `read,write`. */
export function parseScopes(text: string): Result<readonly Scope[]> {
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.filter((name) => !SCOPES.some((scope) => scope === name));
  if (unknown.length > 0) {
    return failure(
      ...unknown.map((name) => `${quote(name)} is not a scope; there are ${SCOPES.join(' and ')}`),
    );
  }
  return success(names.includes('write') ? SCOPES : ['read']);
}
