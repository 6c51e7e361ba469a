import type { Logger } from 'pino';
import { toPrintable } from '../domain/format.js';
import { failureReason } from '../shared/api-client.js';

/**
 * Writes the messages of the sign-in library into the log, each in one line. Only the message, because the other arguments may
 * contain rows of tables, and why a request to the provider failed. It may quote what a stranger sent.
 */
export function createLibraryLog(log: Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>) {
  return (
    level: 'debug' | 'info' | 'warn' | 'error',
    message: string,
    ...others: readonly unknown[]
  ): void => {
    const failed = others.find((one) => one instanceof TypeError && one.message === 'fetch failed');
    const reason = failed === undefined ? '' : `: ${failureReason(failed)}`;
    log[level](toPrintable(`${message}${reason}`.replaceAll(/\s+/g, ' ')));
  };
}
