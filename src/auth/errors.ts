/** Translates the sign-in library's errors into domain errors. */
import { CallerStatsError } from '../domain/errors.js';

/** The library's codes for wrong credentials. */
const WRONG = new Set([
  'INVALID_EMAIL_OR_PASSWORD',
  'INVALID_EMAIL',
  'INVALID_PASSWORD',
  'INVALID_CODE',
  'INVALID_BACKUP_CODE',
  'INVALID_TWO_FACTOR_COOKIE',
  'INVALID_TOKEN',
  'CREDENTIAL_ACCOUNT_NOT_FOUND',
  'TOTP_NOT_ENABLED',
  'BACKUP_CODES_NOT_ENABLED',
  'TWO_FACTOR_NOT_ENABLED',
  // Two backup codes at the same moment. The library reports a status instead of a code.
  'CONFLICT',
]);

const LOCKED = new Set(['ACCOUNT_TEMPORARILY_LOCKED', 'TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE']);

/**
 * Runs a call of the library and throws its errors as domain errors: `wrong` for wrong credentials, and `locked` after too
 * many wrong ones.
 */
export async function translateErrors<T>(
  work: () => Promise<T>,
  wrong?: CallerStatsError,
  locked = wrong,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const code = getErrorCode(error);
    if (wrong !== undefined && WRONG.has(code)) throw wrong;
    if (locked !== undefined && LOCKED.has(code)) throw locked;
    if (code.startsWith('USER_ALREADY_EXISTS')) {
      throw new CallerStatsError('already_exists', 'There is an account with this e-mail address already.');
    }
    if (code === 'TOTP_ALREADY_ENABLED')
      throw new CallerStatsError('already_exists', 'The second factor is on already; turn it off first.');
    if (code === 'PASSWORD_TOO_SHORT' || code === 'PASSWORD_TOO_LONG') {
      throw new CallerStatsError('invalid', 'The password is too short or too long.');
    }
    throw error;
  }
}

/** Runs a check of a password. */
export function checkPassword<T>(work: () => Promise<T>, message = 'The password is wrong.'): Promise<T> {
  return translateErrors(work, new CallerStatsError('wrong_credentials', message));
}

/** Runs a check of a code of the second factor. */
export function checkCode<T>(work: () => Promise<T>): Promise<T> {
  return translateErrors(
    work,
    new CallerStatsError(
      'wrong_credentials',
      'The code is wrong or too old; each works once, for half a minute.',
    ),
    new CallerStatsError(
      'too_many_attempts',
      'Too many wrong codes. Try again in 15 min, or use a backup code then.',
    ),
  );
}

/** The library's error code; empty for other errors. */
export function getErrorCode(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const { body, status } = error as { body?: { code?: unknown }; status?: unknown };
  return [body?.code, status].find((one) => typeof one === 'string') ?? '';
}
