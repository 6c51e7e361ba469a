/** What the library throws, as what it means. */
import { CallerStatsError } from '../domain/errors.js';

/** The codes with which the library says that what somebody knows or has is not the right thing. */
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
  // A backup code while another was used; the library gives it no code but its status.
  'CONFLICT',
]);

const LOCKED = new Set(['ACCOUNT_TEMPORARILY_LOCKED', 'TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE']);

const UNFIT = new Set(['PASSWORD_TOO_SHORT', 'PASSWORD_TOO_LONG']);

const TAKEN = new Set(['USER_ALREADY_EXISTS', 'USER_ALREADY_EXISTS_USE_ANOTHER_EMAIL']);

export async function orRefused<T>(work: () => Promise<T>): Promise<T | 'wrong' | 'locked'> {
  try {
    return await work();
  } catch (error) {
    const code = getErrorCode(error);
    if (WRONG.has(code)) return 'wrong';
    if (LOCKED.has(code)) return 'locked';
    if (TAKEN.has(code)) {
      throw new CallerStatsError('already_exists', 'There is an account with this e-mail address already.');
    }
    if (code === 'TOTP_ALREADY_ENABLED')
      throw new CallerStatsError('already_exists', 'The second factor is on already; turn it off first.');
    if (UNFIT.has(code)) throw new CallerStatsError('invalid', 'The password is too short or too long.');
    throw error;
  }
}

export async function orWrong<T>(work: () => Promise<T>): Promise<T | 'wrong'> {
  const result = await orRefused(work);
  return result === 'locked' ? 'wrong' : result;
}

/** What the library calls its refusal; empty for an error that is none. */
export function getErrorCode(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const { body, status } = error as { body?: { code?: unknown }; status?: unknown };
  return [body?.code, status].find((one) => typeof one === 'string') ?? '';
}
