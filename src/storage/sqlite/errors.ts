import { CallerStatsError } from '../../domain/errors.js';

/**
 * SQLite's primary result codes (sqlite.org/rescode.html) that speak of circumstances, not of a mistake or damage: a
 * retry may succeed. With SQLite's own words for them, because the driver leaves out the code on some calls.
 */
const CIRCUMSTANCES = [
  { code: 5, words: 'database is locked', meaning: 'another process is writing to it' },
  { code: 6, words: 'database table is locked', meaning: 'it is locked' },
  { code: 7, words: 'out of memory', meaning: 'there is not enough memory' },
  { code: 8, words: 'attempt to write a readonly database', meaning: 'it is read-only' },
  { code: 10, words: 'disk I/O error', meaning: 'the disk reports an error' },
  { code: 13, words: 'database or disk is full', meaning: 'the disk is full' },
  { code: 14, words: 'unable to open database file', meaning: 'its file cannot be opened' },
  { code: 15, words: 'locking protocol', meaning: 'another process holds its lock' },
] as const;

/** The same for a file that is not what SQLite wrote: CORRUPT and NOTADB. */
const DAMAGE = [
  { code: 11, words: 'database disk image is malformed' },
  { code: 26, words: 'file is not a database' },
] as const;

/**
 * SQLite's error as the port promises it: `unavailable` for circumstances, where a retry may help; of damage, what to do
 * about it; anything else, which is a bug, as it is.
 */
export function storeError(error: unknown): unknown {
  if (isDamage(error)) {
    const words = (error as Error).message;
    return new Error(
      `The database is damaged (${words}). "caller-stats verify" says more; restore a backup: docs/backup.md.`,
      { cause: error },
    );
  }
  const circumstance = CIRCUMSTANCES.find((one) => speaksOf(error, one));
  if (circumstance === undefined) return error;
  return new CallerStatsError('unavailable', `The database cannot be used now: ${circumstance.meaning}.`, {
    cause: error,
  });
}

/** Whether a row broke a unique key or another rule of its table (CONSTRAINT). */
export function isConflict(error: unknown): boolean {
  return speaksOf(error, { code: 19, words: 'constraint failed' });
}

/** Whether the error says that the file is damaged, or no database at all. */
export function isDamage(error: unknown): boolean {
  return DAMAGE.some((one) => speaksOf(error, one));
}

function speaksOf(
  error: unknown,
  { code, words }: { readonly code: number; readonly words: string },
): boolean {
  if (!(error instanceof Error)) return false;
  if ('errcode' in error) return (Number(error.errcode) & 0xff) === code;
  return 'code' in error && error.code === 'ERR_SQLITE_ERROR' && error.message.includes(words);
}
