import { DatabaseError } from 'pg';
import { CallerStatsError } from '../../../domain/errors.js';

/** SQLSTATE that the function `record` raises for a query from before its project's rows. */
const BEFORE_ROWS = 'CS001';

/** A server that can be reached, but is not what `target_session_attrs` asks for. Its message says what it is. */
export class UnsuitableServer extends Error {
  override readonly name = 'UnsuitableServer';
}

/** No host can be used. */
export class HostsError extends Error {
  override readonly name = 'HostsError';
  /** Why, by the names of the hosts. */
  readonly failures: ReadonlyMap<string, unknown>;

  constructor(failures: ReadonlyMap<string, unknown>) {
    super('none of the hosts can be used');
    this.failures = failures;
  }
}

/** A server reports that a commit succeeded, with a warning that it may be lost. Its message says why. */
export class DoubtfulCommit extends Error {
  override readonly name = 'DoubtfulCommit';
}

/** Errors of work that certainly changed nothing: no connection was made, or the transaction was not committed. */
const undone = new WeakSet<Error>();

/** Marks an error of work that certainly changed nothing, so that the work may run again. */
export function markUndone(error: unknown): void {
  if (error instanceof Error) undone.add(error);
}

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
  /** For states that mean too little by themselves. */
  readonly words?: RegExp;
  readonly meaning: string;
  readonly passing?: boolean;
  readonly otherSchema?: boolean;
}

/**
 * Citus has no SQLSTATE for some errors of a server that went away: its own words, and those of libpq and of servers whose
 * SQLSTATE did not arrive.
 */
const goneServer = new RegExp(
  [
    'postmaster was shut down',
    'unexpected postmaster exit',
    'marked as essential',
    'could not commit transaction for shard',
    'failed to prepare transaction',
    'terminating connection',
    'closed the connection unexpectedly',
    'connection has been closed unexpectedly',
    'connection not open',
    'no connection to the server',
    'lost synchronization with server',
    'SSL SYSCALL error',
    'could not (receive data from|send data to) server',
    'the database system is',
  ].join('|'),
);

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
  {
    states: ['08P01'],
    words: /statement pooling/,
    meaning: 'its pooler gives each statement another connection; set its pool_mode to transaction',
  },
  {
    states: ['08P01'],
    words: /startup parameter/,
    meaning: 'its pooler refuses a parameter of the connection, such as options in the database URL',
  },
  { states: ['08'], meaning: 'the connection is broken', passing: true },
  { states: ['XX000'], words: goneServer, meaning: 'a server of the cluster went away', passing: true },
  {
    states: ['XX000'],
    words: /could not find valid entry for shard/,
    meaning: 'the cluster is splitting or moving a shard',
    passing: true,
  },
  {
    states: ['XX000'],
    words: /loaded Citus library version differs|cannot execute a distributed query from a query on a shard/,
    meaning:
      'a server has another version of Citus than its database; run ALTER EXTENSION citus UPDATE there',
    passing: true,
  },
  {
    states: ['26000', '42P05'],
    meaning: 'its pooler gives a connection to others within a session',
    passing: true,
  },
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
  const found = error instanceof DatabaseError ? diagnoseServer(error) : diagnoseOther(error);
  return error instanceof Error && undone.has(error) ? { ...found, undone: true } : found;
}

function diagnoseServer(error: DatabaseError): Diagnosis {
  const { code: state = '', message } = error;
  const kind = KINDS.find(
    ({ states, words }) => states.some((one) => state.startsWith(one)) && (words?.test(message) ?? true),
  );
  return {
    // A fatal error ends the connection.
    meaning: kind?.meaning ?? (error.severity === 'FATAL' ? 'it refuses the connection' : undefined),
    passing: kind?.passing ?? false,
    // The server rolled back before it answered, unless the connection broke, or one within a cluster.
    undone: !(state.startsWith('08') || (state === 'XX000' && kind !== undefined)),
    otherSchema: kind?.otherSchema ?? false,
  };
}

function diagnoseOther(error: unknown): Diagnosis {
  const usual = { passing: true, undone: false, otherSchema: false };
  if (!(error instanceof Error) || error instanceof TypeError || error instanceof RangeError)
    return { ...usual, meaning: undefined, passing: false };
  if (error instanceof UnsuitableServer || error instanceof DoubtfulCommit)
    return { ...usual, meaning: error.message };
  if (error instanceof HostsError) {
    const meanings = [...error.failures].map(([name, failure]) => `${name}: ${diagnose(failure).meaning}`);
    return { ...usual, meaning: `none of its hosts can be used: ${meanings.join('; ')}` };
  }
  const { code = '', message } = error as NodeJS.ErrnoException;
  const kind = CONNECTION_KINDS.find(({ fits }) => fits.test(code) || fits.test(message));
  const { meaning, passing = false } = kind ?? { meaning: 'it cannot be reached', passing: true };
  return { ...usual, meaning, passing };
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

/** Whether a server refused to write, as a standby does. */
export function isReadOnlyServer(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === '25006';
}

/** Whether the database's disk takes no writes: it is full, fails, or the server refuses to write. */
export function cannotWrite(error: unknown): boolean {
  if (error instanceof CallerStatsError) return cannotWrite(error.cause);
  return error instanceof DatabaseError && /^(53100|58|25006)/.test(error.code ?? '');
}

/** Whether a statement divided by zero, which some do to stop. */
export function isDivisionByZero(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === '22012';
}

/** Whether a row violates a unique key. */
export function isConflict(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === '23505';
}

/** Whether the server reports damage: `data_corrupted` or `index_corrupted`. */
export function isDamage(error: unknown): boolean {
  return error instanceof DatabaseError && (error.code === 'XX001' || error.code === 'XX002');
}
