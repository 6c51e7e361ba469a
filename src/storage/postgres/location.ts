/** Reads a PostgreSQL URL: libpq's own form (postgresql.org/docs/current/libpq-connect.html), and one parameter of ours. */
import type { ClientConfig } from 'pg';
import { parse, toClientConfig } from 'pg-connection-string';
import { failure, type Result, success } from '../../domain/result.js';

/** Where a PostgreSQL store is. */
export interface PostgresLocation {
  readonly kind: 'postgres';
  /** Host, port, database, user, TLS and the rest, for the driver. */
  readonly config: ClientConfig;
  /** The schema that holds all tables; a lower-case identifier that needs no quotes. */
  readonly schema: string;
  /** How messages call it: host, database and schema, and never a password. */
  readonly name: string;
}

export const POSTGRES_SCHEMES = ['postgres', 'postgresql'] as const;

const defaultSchema = 'caller_stats';

/** An identifier that means the same with and without quotes. 63 bytes is PostgreSQL's own limit. */
const schemaForm = /^[a-z_][a-z0-9_]{0,62}$/;

const sslModes = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'];

/**
 * Reads `postgres://user:password@host:port/database?sslmode=verify-full&schema=caller_stats`. What is left out comes
 * from the variables `PGHOST`, `PGUSER`, `PGPASSWORD` and so on, as with every PostgreSQL client. Reads the files
 * that `sslrootcert`, `sslcert` and `sslkey` name. Problems never repeat the URL, which may hold a password.
 */
export function parsePostgresUrl(url: string): Result<PostgresLocation> {
  let parameters: URLSearchParams;
  try {
    parameters = new URL(url).searchParams;
  } catch {
    return failure(
      'is not a URL; write it as postgres://user@host:5432/database, and characters such as @ : / # ? in a password as %40 %3A %2F %23 %3F',
    );
  }
  const schema = parameters.get('schema') ?? defaultSchema;
  const sslMode = parameters.get('sslmode');
  const problems = [
    ...(schemaForm.test(schema) && !schema.startsWith('pg_')
      ? []
      : ['has a schema that is not 1 to 63 of a-z 0-9 _, beginning with a letter']),
    ...(sslMode === null || sslModes.includes(sslMode)
      ? []
      : [`has an sslmode that is none of ${sslModes.join(', ')}`]),
  ];
  if (problems.length > 0) return failure(...problems);
  try {
    const { schema: _ours, ...config } = toClientConfig(
      parse(url, { useLibpqCompat: true }),
    ) as ClientConfig & {
      schema?: string;
    };
    return success({ kind: 'postgres', config, schema, name: nameOf(config, schema) });
  } catch (error) {
    return failure(problemOf(error as NodeJS.ErrnoException));
  }
}

function nameOf({ host, port, database }: ClientConfig, schema: string): string {
  const at = [host ?? '(PGHOST)', port].filter((part) => part !== undefined && part !== '').join(':');
  return `${at}/${database ?? '(PGDATABASE)'}, schema ${schema}`;
}

function problemOf({ code, path, message }: NodeJS.ErrnoException): string {
  if (path !== undefined) return `names a file that cannot be read: ${path} (${code})`;
  if (message.includes('verify-ca')) {
    return 'has sslmode=verify-ca without sslrootcert; name the CA certificate, or use verify-full';
  }
  return 'cannot be read as a PostgreSQL URL';
}
