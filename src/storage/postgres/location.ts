/** Parses PostgreSQL URLs of libpq (postgresql.org/docs/current/libpq-connect.html), with the additional parameter `schema`. */
import type { ClientConfig } from 'pg';
import { parse, toClientConfig } from 'pg-connection-string';
import { failure, type Result, success } from '../../domain/result.js';
import { suggestNearMiss } from '../../domain/suggest.js';

export interface PostgresLocation {
  readonly kind: 'postgres';
  readonly config: ClientConfig;
  /** A lower-case identifier that needs no quotes. */
  readonly schema: string;
  /** For messages: host, database and schema, without the password. */
  readonly name: string;
}

export const POSTGRES_SCHEMES = ['postgres', 'postgresql'] as const;

const defaultSchema = 'caller_stats';

/** An identifier that needs no quotes. PostgreSQL's limit is 63 bytes. */
const schemaForm = /^[a-z_][a-z0-9_]{0,62}$/;

/** Parameters that affect the connection. The driver ignores unknown ones. */
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
 * Parses `postgres://user:password@host:port/database?sslmode=verify-full&schema=caller_stats`. Missing parts come from
 * `PGHOST`, `PGUSER`, `PGPASSWORD` and so on, as with every PostgreSQL client. Reads the files that `sslrootcert`,
 * `sslcert` and `sslkey` name. Problems never repeat the URL, which may contain a password.
 */
export function parsePostgresUrl(url: string): Result<PostgresLocation> {
  // As with psql, the host may be given by a parameter or variable instead.
  const whole = url.replace(/^([a-z]+:\/\/[^/?#]*@)(?=[/?#]|$)/i, '$1none');
  if (!URL.canParse(whole)) return failure(`is not a URL; write it as ${example}, and ${escapes}`);
  const { pathname, hash, searchParams } = new URL(whole);
  const names = [...searchParams.keys()];
  // The rest of a password with an unescaped character would become the host, database or parameters.
  if (/%(?![0-9a-f]{2})/i.test(url) || hash !== '' || [pathname, ...names].some((part) => part.includes('@')))
    return failure(`cannot be read as ${example}: ${escapes}`);
  const problems = findProblems(searchParams);
  if (problems.length > 0) return failure(...problems);
  try {
    // If there is a space, the driver assumes that nothing is escaped.
    const { schema = defaultSchema, ...config } = toClientConfig(
      parse(url.replaceAll(' ', '%20'), { useLibpqCompat: true }),
    ) as ClientConfig & { schema?: string };
    return success({ kind: 'postgres', config, schema, name: formatName(config, schema) });
  } catch (error) {
    return failure(explain(error as NodeJS.ErrnoException));
  }
}

function findProblems(parameters: URLSearchParams): string[] {
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
    // Ignoring a mistyped sslmode would leave the connection unencrypted.
    const mistyped = names.some((one) => suggestNearMiss(one, parameterNames) === name);
    if (mistyped) problems.push(`has a parameter that is nearly, but not quite, called ${name}`);
  }
  return problems;
}

function formatName({ host, port, database }: ClientConfig, schema: string): string {
  const at = [host ?? '(PGHOST)', port].filter((part) => part !== undefined && part !== '').join(':');
  return `${at}/${database ?? '(PGDATABASE)'}, schema ${schema}`;
}

function explain({ code, path, message }: NodeJS.ErrnoException): string {
  if (path !== undefined) return `names a file that cannot be read: ${path} (${code})`;
  if (message.includes('verify-ca')) {
    return 'has sslmode=verify-ca without sslrootcert; name the CA certificate, or use verify-full';
  }
  return 'cannot be read as a PostgreSQL URL';
}
