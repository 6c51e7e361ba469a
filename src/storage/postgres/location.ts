/** Reads a PostgreSQL URL: libpq's own form (postgresql.org/docs/current/libpq-connect.html), and one parameter of ours. */
import type { ClientConfig } from 'pg';
import { parse, toClientConfig } from 'pg-connection-string';
import { failure, type Result, success } from '../../domain/result.js';
import { suggestNearMiss } from '../../domain/suggest.js';

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

/** Those that change where and how we connect. Others are left to the driver, which passes over what it does not know. */
const parameterNames = [
  'schema',
  'sslmode',
  'sslrootcert',
  'sslcert',
  'sslkey',
  'sslnegotiation',
  'host',
  'port',
  'user',
  'password',
  'options',
  'application_name',
] as const;

const example = 'postgres://user@host:5432/database';
const escapes = 'characters such as @ : / # ? % in a user or password are written as %40 %3A %2F %23 %3F %25';

const sslModes = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'];

/**
 * Reads `postgres://user:password@host:port/database?sslmode=verify-full&schema=caller_stats`. What is left out comes
 * from the variables `PGHOST`, `PGUSER`, `PGPASSWORD` and so on, as with every PostgreSQL client. Reads the files
 * that `sslrootcert`, `sslcert` and `sslkey` name. Problems never repeat the URL, which may hold a password.
 */
export function parsePostgresUrl(url: string): Result<PostgresLocation> {
  // As with psql, there may be a user and no host: that is a parameter or a variable then.
  const whole = url.replace(/^([a-z]+:\/\/[^/?#]*@)(?=[/?#]|$)/i, '$1none');
  if (!URL.canParse(whole)) return failure(`is not a URL; write it as ${example}, and ${escapes}`);
  const { pathname, hash, searchParams } = new URL(whole);
  const names = [...searchParams.keys()];
  // A password with such a character in it would make host, database or parameters of its own rest.
  if (/%(?![0-9a-f]{2})/i.test(url) || hash !== '' || [pathname, ...names].some((part) => part.includes('@')))
    return failure(`cannot be read as ${example}: ${escapes}`);
  const problems = problemsOf(searchParams);
  if (problems.length > 0) return failure(...problems);
  try {
    // The driver takes a space for a sign that nothing is escaped.
    const { schema = defaultSchema, ...config } = toClientConfig(
      parse(url.replaceAll(' ', '%20'), { useLibpqCompat: true }),
    ) as ClientConfig & { schema?: string };
    return success({ kind: 'postgres', config, schema, name: nameOf(config, schema) });
  } catch (error) {
    return failure(problemOf(error as NodeJS.ErrnoException));
  }
}

function problemsOf(parameters: URLSearchParams): string[] {
  const names = [...parameters.keys()];
  const schema = parameters.get('schema') ?? defaultSchema;
  const sslMode = parameters.get('sslmode');
  const problems: string[] = [];
  if (!schemaForm.test(schema) || schema.startsWith('pg_'))
    problems.push('has a schema that is not 1 to 63 of a-z 0-9 _, beginning with a letter');
  if (sslMode !== null && !sslModes.includes(sslMode))
    problems.push(`has an sslmode that is none of ${sslModes.join(', ')}`);
  for (const name of parameterNames) {
    if (parameters.getAll(name).length > 1) problems.push(`has the parameter ${name} twice`);
    // Passed over, a mistyped sslmode would leave the connection in the clear.
    const mistyped = names.some((one) => suggestNearMiss(one, parameterNames) === name);
    if (mistyped) problems.push(`has a parameter that is nearly, but not quite, called ${name}`);
  }
  return problems;
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
