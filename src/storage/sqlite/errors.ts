import { CallerStatsError } from '../../domain/errors.js';

/**
 * SQLite's primary result codes (sqlite.org/rescode.html) after which a retry may succeed. With SQLite's own texts, because
 * the driver leaves out the code on some calls.
 */
const TRANSIENT = [
  { code: 5, words: 'database is locked', meaning: 'another process is writing to it' },
  { code: 6, words: 'database table is locked', meaning: 'it is locked' },
  { code: 7, words: 'out of memory', meaning: 'there is not enough memory' },
  { code: 8, words: 'attempt to write a readonly database', meaning: 'it is read-only' },
  { code: 10, words: 'disk I/O error', meaning: 'the disk reports an error' },
  { code: 13, words: 'database or disk is full', meaning: 'the disk is full' },
  { code: 14, words: 'unable to open database file', meaning: 'its file cannot be opened' },
  { code: 15, words: 'locking protocol', meaning: 'another process holds its lock' },
] as const;

/** CORRUPT and NOTADB. */
const DAMAGE = [
  { code: 11, words: 'database disk image is malformed' },
  { code: 26, words: 'file is not a database' },
] as const;

/** Translates an error of SQLite: `unavailable` if a retry may succeed, advice for damage, and bugs as they are. */
export function storeError(error: unknown): unknown {
  if (isDamage(error)) {
    const words = (error as Error).message;
    return new Error(
      `The database is damaged (${words}). "caller-stats verify" says more; restore a backup: docs/guides/run/backup.md.`,
      { cause: error },
    );
  }
  const transient = TRANSIENT.find((one) => isOf(error, one));
  if (transient === undefined) return error;
  return new CallerStatsError('unavailable', `The database cannot be used now: ${transient.meaning}.`, {
    cause: error,
  });
}

/** Whether a row violates a unique key or another constraint. */
export function isConflict(error: unknown): boolean {
  return isOf(error, { code: 19, words: 'constraint failed' });
}

/** Whether the file is damaged, or not a database. */
export function isDamage(error: unknown): boolean {
  return DAMAGE.some((one) => isOf(error, one));
}

function isOf(error: unknown, { code, words }: { readonly code: number; readonly words: string }): boolean {
  if (!(error instanceof Error)) return false;
  if ('errcode' in error) return (Number(error.errcode) & 0xff) === code;
  return 'code' in error && error.code === 'ERR_SQLITE_ERROR' && error.message.includes(words);
}
