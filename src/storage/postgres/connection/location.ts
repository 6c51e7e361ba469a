/** Parses PostgreSQL URLs of libpq (postgresql.org/docs/current/libpq-connect.html), with the additional parameter `schema`. */
import { statSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import type { ClientConfig } from 'pg';
import { parse, toClientConfig } from 'pg-connection-string';
import { failure, type Result, success } from '../../../domain/result.js';
import { suggestNearMiss } from '../../../domain/suggest.js';

/** One server of a URL. What is missing comes from the environment. */
export type Host = Readonly<Pick<ClientConfig, 'host' | 'port'>>;

/** Which of the hosts will do, as in libpq. */
export const SESSION_TARGETS = [
  'any',
  'read-write',
  'read-only',
  'primary',
  'standby',
  'prefer-standby',
] as const;

export type SessionTarget = (typeof SESSION_TARGETS)[number];

export interface PostgresLocation {
  readonly kind: 'postgres';
  /** For each connection, without the host and its port. */
  readonly config: ClientConfig;
  /** At least one. They are tried in this order. */
  readonly hosts: readonly Host[];
  readonly target: SessionTarget;
  /** For connecting to one host. */
  readonly connectTimeoutMs: number | undefined;
  /** A lower-case identifier that needs no quotes. */
  readonly schema: string;
  /** For messages: hosts, database and schema, without the password. */
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
  'connect_timeout',
  'target_session_attrs',
  'load_balance_hosts',
] as const;

const example = 'postgres://user@host:5432/database';
const escapes = 'characters such as @ : / # ? % in a user or password are written as %40 %3A %2F %23 %3F %25';

const sslModes = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'];

/** PostgreSQL's own port, which a host without one has if another host has one. */
const defaultPort = 5432;

/** The parts before, in and after the list of hosts. */
const urlForm = /^([a-z]+:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/is;

/** What parameters must be, if they are there. */
const choices: readonly { readonly name: string; readonly form: RegExp; readonly problem: string }[] = [
  {
    name: 'target_session_attrs',
    form: new RegExp(`^(${SESSION_TARGETS.join('|')})?$`),
    problem: `has a target_session_attrs that is not one of ${SESSION_TARGETS.join(', ')}`,
  },
  {
    name: 'connect_timeout',
    form: /^\d{0,6}$/,
    problem: 'has a connect_timeout that is not a whole number of seconds',
  },
  {
    name: 'load_balance_hosts',
    form: /^(disable)?$/,
    problem: 'has load_balance_hosts, which is not supported: hosts are tried in their order',
  },
];

/**
 * Parses `postgres://user:password@host:port/database?sslmode=verify-full&schema=caller_stats`, where `host:port` may be a
 * list. Missing parts come from `PGHOST`, `PGUSER`, `PGPASSWORD` and so on, as with every PostgreSQL client. Reads the files
 * that `sslrootcert`, `sslcert` and `sslkey` name. Problems never repeat the URL, which may contain a password.
 */
export function parsePostgresUrl(url: string): Result<PostgresLocation> {
  const notUrl = failure(`is not a URL; write it as ${example}, and ${escapes}`);
  const [, head = '', listed = '', rest = ''] = urlForm.exec(url) ?? [];
  // The driver and the standard know one host; ours are parsed below.
  const single = `${head}none${rest}`;
  if (!URL.canParse(single)) return notUrl;
  const { pathname, hash, searchParams } = new URL(single);
  const hosts = parseHosts(listed, searchParams);
  const isCut = [pathname, ...searchParams.keys()].some((part) => part.includes('@'));
  // The rest of a password with an unescaped character would become the host, database or parameters.
  if (isCut && !hosts.ok) return notUrl;
  if (/%(?![0-9a-f]{2})/i.test(url) || hash !== '' || isCut)
    return failure(`cannot be read as ${example}: ${escapes}`);
  const problems = [...findProblems(searchParams), ...(hosts.ok ? [] : hosts.problems)];
  if (!hosts.ok || problems.length > 0) return failure(...problems);
  try {
    requireFiles(searchParams);
    // If there is a space, the driver assumes that nothing is escaped.
    const parsed = toClientConfig(
      parse(single.replaceAll(' ', '%20'), { useLibpqCompat: true }),
    ) as ClientConfig & { schema?: string; target_session_attrs?: SessionTarget; connect_timeout?: string };
    const { schema = defaultSchema, target_session_attrs, connect_timeout, ...more } = parsed;
    const { host: _host, port: _port, ...config } = more;
    const target = target_session_attrs || 'any';
    // As in libpq, 0 means no limit of its own.
    const connectTimeoutMs = Number(connect_timeout ?? 0) * 1000 || undefined;
    const name = formatName(hosts.value, config.database, schema);
    return success({ kind: 'postgres', config, hosts: hosts.value, target, connectTimeoutMs, schema, name });
  } catch (error) {
    return failure(explain(error as NodeJS.ErrnoException));
  }
}

/** The hosts of `listed`, as `a:1,[::1]:2,c`, or of the parameters `host` and `port`, which override it. */
function parseHosts(listed: string, parameters: URLSearchParams): Result<Host[]> {
  const parts = listed.split(',').map((part) => /^(\[[^\]]*\]|[^:[\]]*)(?::(.*))?$/.exec(part));
  if (parts.includes(null))
    return failure('has a host with a colon; write an IPv6 address in brackets, as [::1]:5432');
  const hosts =
    parameters.get('host')?.split(',') ??
    parts.map((part) => decode(part?.[1] ?? '').replace(/^\[(.*)\]$/, '$1'));
  const ports = parameters.get('port')?.split(',') ?? parts.map((part) => part?.[2] ?? '');
  const problems: string[] = [];
  if (hosts.length > 1 && hosts.includes('')) problems.push('has a comma with no host before or after it');
  if (!hosts.every(isHost))
    problems.push('has a host that is not a name, an address or the folder of a socket');
  if (!ports.every((port) => port === '' || isPort(port)))
    problems.push('has a port that is not a number from 1 to 65535');
  if (ports.length > 1 && ports.length !== hosts.length) {
    problems.push(
      `has ${ports.length} ports for ${hosts.length} hosts; give one port for all of them, or one for each`,
    );
  }
  if (problems.length > 0) return failure(...problems);
  const missing = ports.every((port) => port === '') ? undefined : defaultPort;
  return success(
    hosts.map((host, at) => {
      const port = ports.length === 1 ? ports[0] : ports[at];
      return { host: host === '' ? undefined : host, port: Number(port) || missing };
    }),
  );
}

function isHost(host: string): boolean {
  return /^(\/.*|[^\s,:/?#@[\]\\<>^|]*)$/.test(host) || isIPv6(host);
}

function isPort(port: string): boolean {
  return /^\d{1,5}$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535;
}

/** A sequence that is not an escape stays, and is refused with the whole URL. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
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
    problems.push(`has an sslmode that is not one of ${sslModes.join(', ')}`);
  for (const { name, form, problem } of choices) {
    if (!form.test(parameters.get(name) ?? '')) problems.push(problem);
  }
  for (const name of parameterNames) {
    if (parameters.getAll(name).length > 1) problems.push(`has the parameter ${name} twice`);
    // Ignoring a mistyped sslmode would leave the connection unencrypted.
    const mistyped = names.some((one) => suggestNearMiss(one, parameterNames) === name);
    if (mistyped) problems.push(`has a parameter that is nearly, but not quite, called ${name}`);
  }
  return problems;
}

function formatName(hosts: readonly Host[], database: string | undefined, schema: string): string {
  return `${hosts.map(nameOfHost).join(',')}/${database ?? '(PGDATABASE)'}, schema ${schema}`;
}

/** For messages. */
export function nameOfHost({ host = '(PGHOST)', port }: Host): string {
  const name = host.includes(':') && port !== undefined ? `[${host}]` : host;
  return port === undefined ? name : `${name}:${port}`;
}

/** The driver would wait for a pipe. */
function requireFiles(parameters: URLSearchParams): void {
  for (const name of ['sslrootcert', 'sslcert', 'sslkey']) {
    const path = parameters.get(name) ?? '';
    if (statSync(path, { throwIfNoEntry: false })?.isFile() === false)
      throw Object.assign(new Error(), { path, code: 'it is not a file' });
  }
}

function explain({ code, path, message }: NodeJS.ErrnoException): string {
  if (path !== undefined) return `names a file that cannot be read: ${path} (${code})`;
  if (message.includes('verify-ca')) {
    return 'has sslmode=verify-ca without sslrootcert; name the CA certificate, or use verify-full';
  }
  return 'cannot be read as a PostgreSQL URL';
}
