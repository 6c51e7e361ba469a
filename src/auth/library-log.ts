import type { Logger } from 'pino';
import { toPrintable } from '../domain/format.js';

/**
 * Writes the messages of the sign-in library into the log, each in one line. Only the message, because the other arguments may
 * contain rows of tables. It may quote what a stranger sent.
 */
export function createLibraryLog(log: Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>) {
  return (level: 'debug' | 'info' | 'warn' | 'error', message: string): void =>
    log[level](toPrintable(message.replaceAll(/\s+/g, ' ')));
}
