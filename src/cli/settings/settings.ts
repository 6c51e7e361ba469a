/**
 * The settings: the only place that reads flags and environment. Flags first, then environment, then defaults. All
 * are read and checked once, at start, and every problem is reported together.
 */
import { Option } from 'commander';
import { VENDOR_PATTERN } from '../../domain/keys/api-key.js';
import { parseKeyLife } from '../../domain/keys/key-lifetime.js';
import {
  batchQueriesMax,
  bodyBytesMax,
  databaseConnectionsMax,
  databaseTimeoutMs,
  failuresPerMinute,
  secretCharactersMin,
  workersMax,
} from '../../domain/limits.js';
import { isName } from '../../domain/projects/project.js';
import { failure, type Result, success } from '../../domain/result.js';
import { parseDatabaseUrl } from '../../storage/open.js';
import { UsageError } from '../io.js';
import { OVERLOAD_SETTINGS } from './admission.js';
import { host, OPERATE_SETTINGS } from './operation.js';
import { mayHoldPassword } from './passwords.js';
import { type Environment, integer, readSetting, type Setting, setting, webAddress } from './setting.js';
import { OTLP_SETTINGS } from './telemetry.js';
import { WEB_SETTINGS } from './web.js';

/** The settings of the server. */
export const SERVER_SETTINGS = {
  host: setting({
    flag: 'host',
    environment: 'HOST',
    fallback: '127.0.0.1',
    placeholder: 'address',
    description: 'address to listen on; 0.0.0.0 or :: for all',
    parse: host,
  }),
  port: setting({
    flag: 'port',
    environment: 'PORT',
    fallback: '4000',
    placeholder: 'number',
    description: 'port to listen on; 0 for any free one',
    parse: integer(0, 65_535),
  }),
  workers: setting({
    flag: 'workers',
    environment: 'CALLER_STATS_WORKERS',
    fallback: '1',
    placeholder: 'number',
    description: 'processes that answer, on machines with more than one core',
    parse: integer(1, workersMax),
  }),
  database: setting({
    flag: 'database',
    environment: 'DATABASE_URL',
    fallback: 'sqlite:./data/caller-stats.db',
    placeholder: 'url',
    description: 'where everything is kept: sqlite: and a file, or postgres://user@host:port/database',
    hides: mayHoldPassword,
    parse: databaseUrl,
  }),
  databaseConnectionsMax: setting({
    flag: 'database-connections-max',
    environment: 'CALLER_STATS_DATABASE_CONNECTIONS_MAX',
    fallback: String(databaseConnectionsMax),
    placeholder: 'number',
    description: 'connections to a PostgreSQL database, at most',
    parse: integer(2, 1000),
  }),
  databaseTimeoutMs: setting({
    flag: 'database-timeout-ms',
    environment: 'CALLER_STATS_DATABASE_TIMEOUT_MS',
    fallback: String(databaseTimeoutMs),
    placeholder: 'milliseconds',
    description: 'how long a PostgreSQL database may take to answer a read or write',
    parse: integer(100, 600_000),
  }),
  keyPrefix: setting({
    flag: 'key-prefix',
    environment: 'CALLER_STATS_KEY_PREFIX',
    fallback: 'cs',
    placeholder: 'vendor',
    description: 'vendor prefix of new API keys',
    parse: (text) =>
      new RegExp(VENDOR_PATTERN).test(text)
        ? success(text)
        : failure('is not 2 to 16 lower-case letters and digits, beginning with a letter'),
  }),
  keyLifeMax: setting<number | null>({
    flag: 'key-life-max',
    environment: 'CALLER_STATS_KEY_LIFE_MAX',
    fallback: 'none',
    placeholder: 'days',
    description: 'longest life of new API keys, as 365d; none for no bound',
    parse: parseKeyLife,
  }),
  ...WEB_SETTINGS,
  secret: setting<string | null>({
    flag: 'secret',
    environment: 'CALLER_STATS_SECRET',
    fallback: 'none',
    placeholder: 'text',
    description: 'signs sessions and seals second factors; none for one that the database keeps',
    environmentOnly: true,
    hides: () => true,
    parse: (text) =>
      text === 'none'
        ? success(null)
        : text.length >= secretCharactersMin
          ? success(text)
          : failure(`is shorter than ${secretCharactersMin} characters; make one with: openssl rand -hex 32`),
  }),
  ...OTLP_SETTINGS,
  oidcIssuer: setting<string | null>({
    flag: 'oidc-issuer',
    environment: 'CALLER_STATS_OIDC_ISSUER',
    fallback: 'none',
    placeholder: 'url',
    description: 'OpenID Connect provider for single sign-on; needs the next two and --public-url',
    parse: (text) => (text === 'none' ? success(null) : webAddress(text)),
  }),
  oidcClientId: setting<string | null>({
    flag: 'oidc-client-id',
    environment: 'CALLER_STATS_OIDC_CLIENT_ID',
    fallback: 'none',
    placeholder: 'id',
    description: 'what the provider calls this service',
    parse: (text) => success(text === 'none' ? null : text),
  }),
  oidcClientSecret: setting<string | null>({
    flag: 'oidc-client-secret',
    environment: 'CALLER_STATS_OIDC_CLIENT_SECRET',
    fallback: 'none',
    placeholder: 'text',
    description: 'the secret that the provider gave it',
    environmentOnly: true,
    hides: () => true,
    parse: (text) => success(text === 'none' ? null : text),
  }),
  oidcName: setting({
    flag: 'oidc-name',
    environment: 'CALLER_STATS_OIDC_NAME',
    fallback: 'single sign-on',
    placeholder: 'name',
    description: 'what the button on the sign-in page calls the provider',
    parse: (text) => (isName(text) ? success(text) : failure('is not a name')),
  }),
  requestsPerMinute: setting({
    flag: 'requests-per-minute',
    environment: 'CALLER_STATS_REQUESTS_PER_MINUTE',
    fallback: '0',
    placeholder: 'number',
    description: "requests of one organization's keys in a minute, at most; 0 for no limit",
    parse: integer(0, 1_000_000),
  }),
  failuresPerMinute: setting({
    flag: 'failures-per-minute',
    environment: 'CALLER_STATS_FAILURES_PER_MINUTE',
    fallback: String(failuresPerMinute),
    placeholder: 'number',
    description: 'requests of one address that fail to authenticate in a minute, at most; 0 for no limit',
    parse: integer(0, 1_000_000),
  }),
  auditDays: setting<number | null>({
    flag: 'audit-days',
    environment: 'CALLER_STATS_AUDIT_DAYS',
    fallback: 'all',
    placeholder: 'number',
    description: 'days that the audit log is kept; all for ever',
    parse: (text) => (text === 'all' ? success(null) : integer(1, 36_500)(text)),
  }),
  batchQueriesMax: setting({
    flag: 'batch-queries-max',
    environment: 'CALLER_STATS_BATCH_QUERIES_MAX',
    fallback: String(batchQueriesMax),
    placeholder: 'number',
    description: 'queries in one recording request, at most',
    parse: integer(1, 100_000),
  }),
  bodyBytesMax: setting({
    flag: 'body-bytes-max',
    environment: 'CALLER_STATS_BODY_BYTES_MAX',
    fallback: String(bodyBytesMax),
    placeholder: 'bytes',
    description: 'size of one recording request, decoded, at most',
    parse: integer(1024, 100 * 1024 * 1024),
  }),
  ...OVERLOAD_SETTINGS,
  ...OPERATE_SETTINGS,
};

/** Every setting there is. The docs list them all, and a test holds the docs to that. */
export const SETTINGS = {
  ...SERVER_SETTINGS,
  from: setting({
    flag: 'from',
    environment: 'CALLER_STATS_COPY_FROM',
    placeholder: 'url',
    description: 'the database to copy, as for --database of the other commands',
    hides: mayHoldPassword,
    parse: databaseUrl,
  }),
  to: setting({
    flag: 'to',
    environment: 'CALLER_STATS_COPY_TO',
    placeholder: 'url',
    description: 'the database to copy it into, made where there is none',
    hides: mayHoldPassword,
    parse: databaseUrl,
  }),
};

export type SettingName = keyof typeof SETTINGS;

/** The settings of whatever opens the store. Those without a flag of the command come from the environment. */
export const STORE_SETTINGS = ['database', 'databaseConnectionsMax', 'databaseTimeoutMs'] as const;

export type StoreSettings = Values<(typeof STORE_SETTINGS)[number]>;

export type Values<Name extends SettingName> = {
  readonly [Key in Name]: (typeof SETTINGS)[Key] extends Setting<infer T> ? T : never;
};

/** The command-line option of a setting. Its default is said, not set: settings are read by `readSettings` alone. */
export function settingOption(name: SettingName): Option {
  const { flag, placeholder, description, environment, fallback }: Setting<unknown> = SETTINGS[name];
  const otherwise = fallback === undefined ? 'required' : `default: ${fallback}`;
  return new Option(`--${flag} <${placeholder}>`, `${description} (env: ${environment}, ${otherwise})`);
}

/** Reads the named settings. Throws one `UsageError` with every problem, each naming its flag or variable. */
export function readSettings<Name extends SettingName>(
  names: readonly Name[],
  flags: Readonly<Record<string, unknown>>,
  env: Environment,
): Values<Name> {
  const problems: string[] = [];
  const values: Partial<Record<SettingName, unknown>> = {};
  for (const name of names) {
    const value = readSetting(SETTINGS[name], flags[name], env);
    if (value.ok) values[name] = value.value;
    else problems.push(...value.problems);
  }
  if (problems.length > 0) throw new UsageError(problems);
  return values as Values<Name>;
}

/** The names of those settings that are flags of the command as well. */
export function flagsOf(settings: Readonly<Record<string, Setting<unknown>>>): SettingName[] {
  return Object.entries(settings)
    .filter(([, { environmentOnly }]) => environmentOnly !== true)
    .map(([name]) => name as SettingName);
}

/** The variable with the key that `--url` sends. A flag would show in the list of processes. */
export const KEY_VARIABLE = 'CALLER_STATS_KEY';

/** The key for requests to a running server. `UsageError` where it is not set. */
export function readKey(env: Environment): string {
  const key = env[KEY_VARIABLE];
  if (key === undefined || key === '') {
    throw new UsageError([`--url: needs an API key in the environment variable ${KEY_VARIABLE}`]);
  }
  return key;
}

function databaseUrl(text: string): Result<string> {
  const location = parseDatabaseUrl(text);
  return location.ok ? success(text) : location;
}
