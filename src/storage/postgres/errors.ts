import { DatabaseError } from 'pg';
import { CallerStatsError } from '../../domain/errors.js';

/** SQLSTATE that the function `record` raises for a query from before its project's rows. */
const BEFORE_ROWS = 'CS001';

export interface Diagnosis {
  /** For operators. Undefined for a bug of our own, which is thrown as it is. */
  readonly meaning: string | undefined;
  /** Whether the same statement may succeed if it is retried at once. */
  readonly passing: boolean;
  /** Whether the statement certainly changed nothing. */
  readonly undone: boolean;
  /** Whether the schema does not match this program. */
  readonly otherSchema: boolean;
}

interface Kind {
  /** SQLSTATEs, or their beginnings (postgresql.org/docs/current/errcodes-appendix.html). */
  readonly states: readonly string[];
  readonly meaning: string;
  readonly passing?: boolean;
  readonly otherSchema?: boolean;
}

/** Errors that are not bugs. The first match counts. */
const KINDS: readonly Kind[] = [
  { states: ['40'], meaning: 'it gave way to another transaction', passing: true },
  { states: ['57P01', '57P02', '57P03'], meaning: 'the server is stopping or starting', passing: true },
  { states: ['57P04'], meaning: 'it was dropped from the server' },
  {
    states: ['57P05', '25P03', '25P04'],
    meaning: 'the server closed a connection that took too long',
    passing: true,
  },
  { states: ['08'], meaning: 'the connection is broken', passing: true },
  { states: ['25006'], meaning: 'it is read-only, as a standby is', passing: true },
  { states: ['55P03'], meaning: 'a lock could not be had in time', passing: true },
  { states: ['53300'], meaning: 'it has no connection left', passing: true },
  { states: ['53100'], meaning: 'its disk is full' },
  { states: ['53'], meaning: 'it lacks memory or another resource' },
  { states: ['57014'], meaning: 'a statement took too long' },
  {
    states: ['28P01'],
    meaning:
      'it refuses this password; correct the user or the password in the database URL, PGUSER or PGPASSWORD',
  },
  {
    states: ['28'],
    meaning:
      'it refuses this user from this address; its pg_hba.conf says who may connect, and whether only encrypted (sslmode=require)',
  },
  { states: ['3D000'], meaning: 'there is no such database on the server; create it first' },
  { states: ['42501'], meaning: 'this user lacks a privilege; grant it, or connect as another user' },
  {
    states: ['42P06', '42P07', '42710', '42723'],
    meaning: 'its schema has tables or functions of another program; name another schema with ?schema=',
  },
  // A statement was prepared before a column changed its type. A new connection prepares it again.
  { states: ['0A000'], meaning: 'its schema has just changed', passing: true },
  { states: ['58'], meaning: 'the server reports an error of its system' },
  {
    states: ['42P01', '42703', '42883', '3F000', '42P13', '42804'],
    meaning: 'its schema is not the one that this version works with',
    otherSchema: true,
  },
];

/** Connection errors: codes of Node, texts of the driver. The first match counts. */
const CONNECTION_KINDS: readonly (Pick<Kind, 'meaning' | 'passing'> & { readonly fits: RegExp })[] = [
  {
    fits: /^ERR_TLS_CERT_ALTNAME_INVALID/,
    meaning: 'its certificate is for another host name; connect by the name in it, or with sslmode=verify-ca',
  },
  {
    fits: /^(SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_(GET|VERIFY)|CERT_|ERR_TLS_)/,
    meaning: 'its certificate is not trusted; name the certificate of its CA with sslrootcert',
  },
  {
    fits: /does not support SSL/,
    meaning: 'it does not encrypt connections, which sslmode asks for',
  },
  {
    fits: /client password must be/,
    meaning: 'it wants a password; give one in the database URL or PGPASSWORD',
  },
  {
    fits: /^(ENOTFOUND|EAI_AGAIN)/,
    meaning: 'its host name is not known; correct it, or try again when names can be looked up',
    passing: true,
  },
  {
    fits: /^ECONNREFUSED/,
    meaning: 'nothing answers at its host and port; start the server, or correct them',
    passing: true,
  },
  {
    fits: /^ENOENT/,
    meaning: 'its socket is not there; start the server, or correct the folder in host',
    passing: true,
  },
];

export function diagnose(error: unknown): Diagnosis {
  if (error instanceof DatabaseError) {
    const state = error.code ?? '';
    const kind = KINDS.find(({ states }) => states.some((one) => state.startsWith(one)));
    return {
      // A fatal error ends the connection.
      meaning: kind?.meaning ?? (error.severity === 'FATAL' ? 'it refuses the connection' : undefined),
      passing: kind?.passing ?? false,
      // The server rolled back before it answered, unless the connection broke.
      undone: !state.startsWith('08'),
      otherSchema: kind?.otherSchema ?? false,
    };
  }
  if (!(error instanceof Error) || error instanceof TypeError || error instanceof RangeError)
    return { meaning: undefined, passing: false, undone: false, otherSchema: false };
  const { code = '', message } = error as NodeJS.ErrnoException;
  const kind = CONNECTION_KINDS.find(({ fits }) => fits.test(code) || fits.test(message));
  const { meaning, passing = false } = kind ?? { meaning: 'it cannot be reached', passing: true };
  return { meaning, passing, undone: false, otherSchema: false };
}

/** Translates an error of the driver or server: `unavailable`, and bugs as they are. */
export function storeError(error: unknown): unknown {
  if (error instanceof CallerStatsError) return error;
  const { meaning } = diagnose(error);
  return meaning === undefined ? error : unavailable(`The database cannot be used now: ${meaning}.`, error);
}

export function unavailable(message: string, cause?: unknown): CallerStatsError {
  return new CallerStatsError('unavailable', message, { cause });
}

/** The `rowsFrom` of the project, if `record` rejected a query from before it. */
export function rowsFromOf(error: unknown): number | undefined {
  return error instanceof DatabaseError && error.code === BEFORE_ROWS ? Number(error.detail) : undefined;
}

/** Whether a row violates a unique key. */
export function isConflict(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === '23505';
}

/** Whether the server reports damage: `data_corrupted` or `index_corrupted`. */
export function isDamage(error: unknown): boolean {
  return error instanceof DatabaseError && (error.code === 'XX001' || error.code === 'XX002');
}
