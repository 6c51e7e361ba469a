/** Translates the sign-in library's errors into domain errors. */
import { CallerStatsError } from '../domain/errors.js';

/** The library's codes for wrong credentials. */
const WRONG = new Set([
  'INVALID_EMAIL_OR_PASSWORD',
  'INVALID_EMAIL',
  'INVALID_PASSWORD',
  'INVALID_TOKEN',
  'CREDENTIAL_ACCOUNT_NOT_FOUND',
]);

/** Runs a call of the library and throws its errors as domain errors: `wrong` for wrong credentials. */
export async function translateErrors<T>(work: () => Promise<T>, wrong?: CallerStatsError): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const code = getErrorCode(error);
    if (wrong !== undefined && WRONG.has(code)) throw wrong;
    if (code.startsWith('USER_ALREADY_EXISTS')) {
      throw new CallerStatsError('already_exists', 'There is an account with this e-mail address already.');
    }
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

/** The library's error code; empty for other errors. */
export function getErrorCode(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const { body, status } = error as { body?: { code?: unknown }; status?: unknown };
  return [body?.code, status].find((one) => typeof one === 'string') ?? '';
}
