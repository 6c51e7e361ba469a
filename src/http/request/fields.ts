/** Reads the fields of a small JSON body. Reports every invalid field and every unknown one. */
import type { FastifyRequest } from 'fastify';
import { CallerStatsError } from '../../domain/errors.js';
import { passwordCharactersMax, passwordCharactersMin } from '../../domain/limits.js';
import { isLongerThan, parseName } from '../../domain/names.js';
import { ROLES, type Role, toEmail } from '../../domain/people/member.js';
import { failure, oneOf, type Result, success } from '../../domain/result.js';
import { unknownNameMessages } from '../../domain/suggest.js';

/** Reads one value; it is undefined if the field is missing. */
export type FieldReader<T> = (value: unknown) => Result<T>;

type Values<Readers> = {
  readonly [Name in keyof Readers]: Readers[Name] extends FieldReader<infer T> ? T : never;
};

/** The fields of a request's body. Responds `400` with a message for each problem, which begins with its field. */
export function readFields<const Readers extends Readonly<Record<string, FieldReader<unknown>>>>(
  request: FastifyRequest,
  readers: Readers,
): Values<Readers> {
  const { body = {} } = request;
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new CallerStatsError('invalid', 'The body is not a JSON object.');
  }
  const names = Object.keys(readers);
  const problems = unknownNameMessages('field', Object.keys(body), names);
  const values: Record<string, unknown> = {};
  for (const [name, read] of Object.entries(readers)) {
    const value = read((body as Record<string, unknown>)[name]);
    if (value.ok) values[name] = value.value;
    else problems.push(...value.problems.map((problem) => `${name}: ${problem}`));
  }
  if (problems.length > 0) throw invalid(problems);
  return values as Values<Readers>;
}

export function invalid(problems: readonly string[]): CallerStatsError {
  return new CallerStatsError('invalid', 'The request is invalid.', { details: problems });
}

/** Makes a field optional: undefined if it is missing. */
export function optional<T>(read: FieldReader<T>): FieldReader<T | undefined> {
  return (value) => (value === undefined ? success(undefined) : read(value));
}

/** Any text that is not empty. */
export const text: FieldReader<string> = (value) => {
  if (typeof value !== 'string' || value === '') return failure('is missing, or not a text');
  // PostgreSQL cannot store this character, and the SQLite driver cuts texts there.
  return value.includes('\0') ? failure('has a NUL character') : success(value);
};

export const flag: FieldReader<boolean> = (value) =>
  typeof value === 'boolean' ? success(value) : failure('is neither true nor false');

export const name: FieldReader<string> = (value) => parseName(typeof value === 'string' ? value : '');

export const email: FieldReader<string> = (value) => {
  const address = typeof value === 'string' ? toEmail(value) : undefined;
  return address === undefined ? failure('is not an e-mail address') : success(address);
};

export const role: FieldReader<Role> = oneOf(ROLES);

/** A password to set. Read a password to check as `text`. */
export const newPassword: FieldReader<string> = (value) => {
  const password = text(value);
  if (!password.ok) return password;
  if (password.value.length > passwordCharactersMax)
    return failure(`has more than ${passwordCharactersMax} characters`);
  // An emoji is one character, and two units of a text.
  return isLongerThan(password.value, passwordCharactersMin - 1)
    ? password
    : failure(`has fewer than ${passwordCharactersMin} characters; a few words make a good one`);
};

/** The base64url form of a passkey's id, which has at most 1,023 bytes. */
const credentialId = /^[\w-]{1,1364}$/;

/** What a browser says of a passkey (WebAuthn, `PublicKeyCredentialJSON`). The sign-in library checks everything in it. */
export function credentialJson<T extends { readonly id: string; readonly response: object }>(
  value: unknown,
): Result<T> {
  const { id, response } = (typeof value === 'object' && value !== null ? value : {}) as Partial<T>;
  if (typeof id !== 'string' || !credentialId.test(id) || typeof response !== 'object' || response === null)
    return failure('is missing, or not a credential');
  return success(value as T);
}

/** A list of texts; empty if the field is missing. */
export const texts: FieldReader<readonly string[]> = (value = []) =>
  Array.isArray(value) && value.every((one) => typeof one === 'string')
    ? success(value)
    : failure('is not a list of texts');
