/**
 * All settings, with their names, defaults and checks. Only `src/cli/settings/` reads flags and environment variables.
 * All are read and checked once, at start, and all problems are reported together.
 */
import { Option } from 'commander';
import type { MailOptions } from '../../app/notifications/channels/mailer.js';
import { LEGACY_ALGORITHMS } from '../../auth/names.js';
import { VENDOR_PATTERN } from '../../domain/keys/api-key.js';
import { parseKeyLife } from '../../domain/keys/key-lifetime.js';
import { parseNetworks } from '../../domain/keys/networks.js';
import * as limits from '../../domain/limits.js';
import { toEmail } from '../../domain/people/member.js';
import { SHARE_LINK_RULES } from '../../domain/projects/share-link.js';
import { collectProblems, failure, oneOf, type Result, success } from '../../domain/result.js';
import type { BasePath } from '../../http/request/base-path.js';
import { parseDatabaseUrl } from '../../storage/open.js';
import { UsageError } from '../io.js';
import {
  defineSettings,
  type Environment,
  host,
  integer,
  integerSetting,
  mayHoldPassword,
  optionalSetting,
  origin,
  readSetting,
  readVariable,
  type Setting,
  safeWebAddress,
} from './setting.js';

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** The URL of a database. */
export const databaseSetting = {
  placeholder: 'url',
  hides: mayHoldPassword,
  parse: (text: string): Result<string> => {
    const location = parseDatabaseUrl(text);
    return location.ok ? success(text) : location;
  },
};

/** All in the order of the help text of `serve`. A test checks that the docs list them. */
export const SETTINGS = defineSettings({
  host: {
    environment: 'HOST',
    fallback: '127.0.0.1',
    placeholder: 'address',
    description: 'address to listen on; 0.0.0.0 or :: for all',
    parse: host,
  },
  port: {
    environment: 'PORT',
    ...integerSetting('number', 4000, { min: 0, max: 65_535 }),
    description: 'port to listen on; 0 for any free port',
  },
  database: {
    environment: 'DATABASE_URL',
    fallback: 'sqlite:./data/caller-stats.db',
    ...databaseSetting,
    description: 'the database: sqlite: and a file, or postgres://user@host:port/database',
  },
  databaseConnectionsMax: {
    ...integerSetting('number', limits.databaseConnectionsMax, { min: 2, max: 1000 }),
    description: 'maximum number of connections to PostgreSQL',
  },
  databaseTimeoutMs: {
    ...integerSetting('milliseconds', limits.databaseTimeoutMs, { min: 100, max: 600_000 }),
    description: 'deadline for each read and write on PostgreSQL',
  },
  keyPrefix: {
    fallback: 'cs',
    placeholder: 'vendor',
    description: 'vendor prefix of new API keys',
    parse: (text) =>
      new RegExp(VENDOR_PATTERN).test(text)
        ? success(text)
        : failure('is not 2 to 16 lower-case letters and digits, beginning with a letter'),
  },
  keyLifeMax: {
    fallback: 'none',
    placeholder: 'days',
    description: 'longest lifetime of new API keys, such as 365d; none for no limit',
    parse: parseKeyLife,
  },
  trustProxy: {
    fallback: 'none',
    placeholder: 'networks',
    description: 'proxies whose X-Forwarded-For header is trusted, such as 10.0.0.0/8,::1',
    parse: (text) => (text === 'none' ? success([]) : parseNetworks(text.split(','))),
  },
  publicUrl: {
    ...optionalSetting('url', origin),
    description:
      'public address of the server, such as https://stats.example.org; for links and single sign-on',
  },
  basePath: {
    environment: 'BASE_PATH',
    fallback: '/',
    placeholder: 'path',
    description: 'path prefix of all URLs, such as /stats; a proxy must not remove it',
    parse: basePath,
  },
  secret: {
    fallback: 'none',
    placeholder: 'texts',
    description:
      'signs sessions and encrypts second factors; earlier ones after it, separated by commas, still verify; none uses ' +
      'the file of --secret-file',
    environmentOnly: true,
    parse: (text) => (text === 'none' ? success([]) : secrets(text.split(','))),
  },
  secretFile: {
    ...optionalSetting('file', success<string>),
    description:
      'file with secrets, the newest first; none uses a file beside a SQLite database, and PostgreSQL itself',
  },
  breachedPasswords: {
    ...optionalSetting('file', success<string>),
    description: 'file with the SHA-1 of breached passwords, sorted, which nobody may choose',
  },
  firstRunFile: {
    ...optionalSetting('file', success<string>),
    description:
      'file for the keys and the set-up link of the first start; - prints them; none prints them only on a terminal, and ' +
      'otherwise uses a file beside a SQLite database',
  },
  mail: {
    environment: 'CALLER_STATS_SMTP_URL',
    ...optionalSetting('url', mailServer),
    description:
      'SMTP server for e-mail and its sender, such as smtps://user:password@mail.example.org?from=stats@example.org',
    environmentOnly: true,
  },
  notificationNetworks: {
    fallback: 'none',
    placeholder: 'networks',
    description:
      'private networks that notifications may be sent to, such as 10.0.0.0/8,::1; public addresses are always allowed',
    parse: (text) => (text === 'none' ? success([]) : parseNetworks(text.split(','))),
  },
  oidcIssuer: {
    ...optionalSetting('url', safeWebAddress),
    description:
      'OpenID Connect provider for single sign-on; also needs the client id, the client secret and --public-url',
  },
  oidcClientId: {
    ...optionalSetting('id', success<string>),
    description: "this service's client id at the provider",
  },
  oidcClientSecret: {
    ...optionalSetting('text', success<string>),
    description: "this service's client secret at the provider",
    environmentOnly: true,
  },
  oidcSecondFactor: {
    fallback: 'require',
    placeholder: 'rule',
    description:
      'require asks users with two-factor authentication for a code after single sign-on; trust does not, unless the ' +
      'provider says that it checked only one factor',
    parse: oneOf(['require', 'trust']),
  },
  legacyAlgorithms: {
    fallback: 'accept',
    placeholder: 'rule',
    description:
      'accept or refuse what is weaker than OWASP ASVS asks for: RSA signatures of providers and passkeys, and authenticator ' +
      'apps with SHA-1',
    parse: oneOf(LEGACY_ALGORITHMS),
  },
  shareLinks: {
    fallback: 'any',
    placeholder: 'rule',
    description: 'which share links work: any, only those with a password, or none',
    parse: oneOf(SHARE_LINK_RULES),
  },
  requestsPerMinute: {
    ...integerSetting('number', 0, { min: 0, max: 1_000_000 }),
    description:
      'maximum requests per minute of one person, or with the keys of one organization; 0 for no limit',
  },
  failuresPerMinute: {
    ...integerSetting('number', limits.failuresPerMinute, { min: 0, max: 1_000_000 }),
    description: 'maximum failed authentications per minute from one address; 0 for no limit',
  },
  auditDays: {
    fallback: 'all',
    placeholder: 'number',
    description: 'days to keep entries of the audit log; all to keep them forever',
    parse: (text) => (text === 'all' ? success(null) : integer(1, 36_500)(text)),
  },
  batchQueriesMax: {
    ...integerSetting('number', limits.batchQueriesMax, { min: 1, max: 100_000 }),
    description: 'maximum number of queries in a recording request',
  },
  bodyBytesMax: {
    ...integerSetting('bytes', limits.bodyBytesMax, { min: 1024, max: 100 * 1024 * 1024 }),
    description: 'maximum size of a recording request, compressed and decompressed',
  },
  logLevel: {
    fallback: 'info',
    placeholder: 'level',
    description: `what to log: ${logLevels.join(', ')}; debug and trace log each request`,
    parse: oneOf(logLevels),
  },
  metrics: {
    ...optionalSetting('address', metricsAddress),
    description:
      'port of /metrics for Prometheus, or address and port, such as 10.0.0.5:9464, which only Prometheus should reach: it ' +
      'needs no key. A port alone is one of 127.0.0.1; 0 is any free port',
  },
});

export type SettingName = keyof typeof SETTINGS;

export type Values<Name extends SettingName> = {
  readonly [Key in Name]: (typeof SETTINGS)[Key] extends Setting<infer Value> ? Value : never;
};

/** The settings of the server. */
export const SERVER_SETTING_NAMES = Object.keys(SETTINGS) as SettingName[];

/** The settings of every command that opens the store. A command has only some of them as flags. */
export const STORE_SETTINGS = ['database', 'databaseConnectionsMax', 'databaseTimeoutMs'] as const;

/** What finds the secrets that sign sessions, besides the database. */
export const SECRET_SETTINGS = ['secret', 'secretFile'] as const;

export type StoreSettings = Values<(typeof STORE_SETTINGS)[number]>;

/** The command-line option of a setting. It names the default but does not set it, because `readSettings` does. */
export function settingOption(name: SettingName): Option {
  const { flag, placeholder, description, environment, fallback }: Setting = SETTINGS[name];
  const otherwise = fallback === undefined ? 'required' : `default: ${fallback}`;
  return new Option(`--${flag} <${placeholder}>`, `${description} (env: ${environment}, ${otherwise})`);
}

/** Reads the named settings. Throws one `UsageError` with every problem, each naming its flag or variable. */
export function readSettings<Name extends SettingName>(
  names: readonly Name[],
  flags: object,
  env: Environment,
): Values<Name> {
  const problems: string[] = [];
  const values: Partial<Record<SettingName, unknown>> = {};
  for (const name of names) {
    const value = readSetting(SETTINGS[name], (flags as Readonly<Record<string, unknown>>)[name], env);
    if (value.ok) values[name] = value.value;
    else problems.push(...value.problems);
  }
  if (problems.length > 0) throw new UsageError(problems);
  return values as Values<Name>;
}

/** The variable with the key that `--url` sends. A flag would appear in the list of processes. */
export const KEY_VARIABLE = 'CALLER_STATS_KEY';

/** The key of a server that counts are read from; see `import --format caller-stats-api`. */
export const SOURCE_KEY_VARIABLE = 'CALLER_STATS_SOURCE_KEY';

/** The key for requests to a running server, which `flag` names. Throws `UsageError` if it is not set. */
export function readKey(env: Environment, { flag, variable }: KeySource): string {
  const key = readVariable(env, variable);
  if (key === undefined) {
    throw new UsageError([`${flag}: needs an API key in the environment variable ${variable}`]);
  }
  return key;
}

/** The option with a server's URL, and the environment variable with the key for it. */
export interface KeySource {
  readonly flag: string;
  readonly variable: string;
}

function secret(text: string): Result<string> {
  return text.length >= limits.secretCharactersMin
    ? success(text)
    : failure(
        `is shorter than ${limits.secretCharactersMin} characters; make one with: openssl rand -hex 32`,
      );
}

/** An SMTP server, and the sender of its messages in the parameter `from`. */
function mailServer(text: string): Result<MailOptions> {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.hostname === '' || !/^smtps?:\/\/[^/]/.test(text))
    return failure('is not an address that begins with smtps:// or smtp://');
  const mailFrom = toEmail(url.searchParams.get('from') ?? '');
  if (mailFrom === undefined)
    return failure('does not end with ?from= and the sender, such as ?from=stats@example.org');
  url.searchParams.delete('from');
  return success({ smtpUrl: url.href, mailFrom });
}

/** A port, and the address to listen on in front of it. */
function metricsAddress(text: string): Result<{ readonly host: string; readonly port: number }> {
  const { address = '127.0.0.1', digits = '' } =
    /^(?:(?<address>.+):)?(?<digits>\d+)$/.exec(text)?.groups ?? {};
  const [named, port] = [host(address.replace(/^\[(.*)\]$/, '$1')), integer(0, 65_535)(digits)];
  return named.ok && port.ok
    ? success({ host: named.value, port: port.value })
    : failure('is not a port, nor an address and a port such as 10.0.0.5:9464');
}

/** Several secrets, each as long as one has to be. */
export function secrets(texts: readonly string[]): Result<readonly string[]> {
  const results = texts.map((text) => secret(text.trim()));
  const problems = collectProblems(...results);
  return problems.length > 0
    ? failure(...problems)
    : success(results.flatMap((one) => (one.ok ? [one.value] : [])));
}

/** Allows plain segments only, because the path must look the same in headers, cookies and pages. */
function basePath(text: string): Result<BasePath> {
  const path = text.replace(/\/$/, '');
  const isPlain = /^(\/[A-Za-z0-9_~.-]+)*$/.test(path) && !/\/\.\.?(\/|$)/.test(path);
  return isPlain && text !== ''
    ? success(path as BasePath)
    : failure('is not a path such as /stats, of letters, digits and - _ ~ .');
}
