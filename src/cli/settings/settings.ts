/**
 * All settings, with their names, defaults and checks. Only `src/cli/settings/` reads flags and environment variables.
 * All are read and checked once, at start, and all problems are reported together.
 */
import { Option } from 'commander';
import { VENDOR_PATTERN } from '../../domain/keys/api-key.js';
import { parseKeyLife } from '../../domain/keys/key-lifetime.js';
import { parseNetworks } from '../../domain/keys/networks.js';
import * as limits from '../../domain/limits.js';
import { isName } from '../../domain/projects/project.js';
import { CALLER_FORM, isCallerName } from '../../domain/queries/caller.js';
import {
  parseAttributeName,
  parseIdSource,
  parseQueryRule,
  parseSiteOrigins,
} from '../../domain/queries/telemetry.js';
import { failure, type Result, success } from '../../domain/result.js';
import { hourMs } from '../../domain/time/duration.js';
import type { BasePath } from '../../http/request/base-path.js';
import { parseDatabaseUrl } from '../../storage/open.js';
import { UsageError } from '../io.js';
import {
  defineSettings,
  type Environment,
  host,
  integer,
  mayHoldPassword,
  oneOf,
  origin,
  orNone,
  readSetting,
  readVariable,
  type Setting,
  webAddress,
} from './setting.js';

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** In the order of the help text of `serve`. */
const SERVER_SETTINGS = defineSettings({
  host: {
    environment: 'HOST',
    fallback: '127.0.0.1',
    placeholder: 'address',
    description: 'address to listen on; 0.0.0.0 or :: for all',
    parse: host,
  },
  port: {
    environment: 'PORT',
    fallback: '4000',
    placeholder: 'number',
    description: 'port to listen on; 0 for any free one',
    parse: integer(0, 65_535),
  },
  workers: {
    fallback: '1',
    placeholder: 'number',
    description: 'processes that answer, on machines with more than one core',
    parse: integer(1, limits.workersMax),
  },
  database: {
    environment: 'DATABASE_URL',
    fallback: 'sqlite:./data/caller-stats.db',
    placeholder: 'url',
    description: 'where everything is kept: sqlite: and a file, or postgres://user@host:port/database',
    hides: mayHoldPassword,
    parse: databaseUrl,
  },
  databaseConnectionsMax: {
    fallback: String(limits.databaseConnectionsMax),
    placeholder: 'number',
    description: 'connections to a PostgreSQL database, at most',
    parse: integer(2, 1000),
  },
  databaseTimeoutMs: {
    fallback: String(limits.databaseTimeoutMs),
    placeholder: 'milliseconds',
    description: 'how long a PostgreSQL database may take to answer a read or write',
    parse: integer(100, 600_000),
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
    description: 'longest life of new API keys, as 365d; none for no bound',
    parse: parseKeyLife,
  },
  trustProxy: {
    fallback: 'none',
    placeholder: 'networks',
    description: 'proxies whose X-Forwarded-For is believed, as 10.0.0.0/8,::1',
    parse: (text) => (text === 'none' ? success([]) : parseNetworks(text.split(','))),
  },
  publicUrl: {
    fallback: 'none',
    placeholder: 'url',
    description: 'where browsers find the server, as https://stats.example.org; for links and single sign-on',
    parse: orNone(origin),
  },
  basePath: {
    environment: 'BASE_PATH',
    fallback: '/',
    placeholder: 'path',
    description: 'path that everything is below, as /stats; a proxy hands it on as it came',
    parse: basePath,
  },
  secret: {
    fallback: 'none',
    placeholder: 'text',
    description: 'signs sessions and seals second factors; none for one that the database keeps',
    environmentOnly: true,
    hides: () => true,
    parse: orNone(secret),
  },
  otlpQuery: {
    // What GenAI semantic conventions call an agent's run, and a workflow of agents.
    fallback: 'gen_ai.operation.name=invoke_agent,invoke_workflow',
    placeholder: 'attribute=values',
    description: 'OpenTelemetry spans and log records that are queries: those with one of these values',
    parse: parseQueryRule,
  },
  otlpId: {
    fallback: 'trace',
    placeholder: 'source',
    description: 'what is one query: a trace, a span, or all that has the same value of this attribute',
    parse: parseIdSource,
  },
  otlpCaller: {
    fallback: 'caller_stats.caller',
    placeholder: 'attribute',
    description: 'attribute of a span, log record or its resource that names the caller',
    parse: parseAttributeName,
  },
  otlpDefaultCaller: {
    fallback: 'unknown',
    placeholder: 'caller',
    description: 'caller where neither attributes nor headers tell',
    parse: (text) => (isCallerName(text) ? success(text) : failure(`is not ${CALLER_FORM}`)),
  },
  otlpSiteOrigins: {
    fallback: 'none',
    placeholder: 'origins',
    description: 'origins of the documentation site, as https://docs.example.com: in headers they mean web',
    parse: (text) => (text === 'none' ? success([]) : parseSiteOrigins(text)),
  },
  oidcIssuer: {
    fallback: 'none',
    placeholder: 'url',
    description: 'OpenID Connect provider for single sign-on; needs the next two and --public-url',
    parse: orNone(webAddress),
  },
  oidcClientId: {
    fallback: 'none',
    placeholder: 'id',
    description: 'what the provider calls this service',
    parse: orNone(success<string>),
  },
  oidcClientSecret: {
    fallback: 'none',
    placeholder: 'text',
    description: 'the secret that the provider gave it',
    environmentOnly: true,
    hides: () => true,
    parse: orNone(success<string>),
  },
  oidcName: {
    fallback: 'single sign-on',
    placeholder: 'name',
    description: 'what the button on the sign-in page calls the provider',
    parse: (text) => (isName(text) ? success(text) : failure('is not a name')),
  },
  requestsPerMinute: {
    fallback: '0',
    placeholder: 'number',
    description: "requests of one organization's keys in a minute, at most; 0 for no limit",
    parse: integer(0, 1_000_000),
  },
  failuresPerMinute: {
    fallback: String(limits.failuresPerMinute),
    placeholder: 'number',
    description: 'requests of one address that fail to authenticate in a minute, at most; 0 for no limit',
    parse: integer(0, 1_000_000),
  },
  auditDays: {
    fallback: 'all',
    placeholder: 'number',
    description: 'days that the audit log is kept; all for ever',
    parse: (text) => (text === 'all' ? success(null) : integer(1, 36_500)(text)),
  },
  batchQueriesMax: {
    fallback: String(limits.batchQueriesMax),
    placeholder: 'number',
    description: 'queries in one recording request, at most',
    parse: integer(1, 100_000),
  },
  bodyBytesMax: {
    fallback: String(limits.bodyBytesMax),
    placeholder: 'bytes',
    description: 'size of one recording request, decoded, at most',
    parse: integer(1024, 100 * 1024 * 1024),
  },
  connectionsMax: {
    fallback: String(limits.connectionsMax),
    placeholder: 'number',
    description: 'open connections, at most; more are closed at once',
    parse: integer(1, 1_000_000),
  },
  requestsMax: {
    fallback: String(limits.requestsMax),
    placeholder: 'number',
    description: 'requests being answered at once, but for recordings and probes, at most',
    parse: integer(1, 1_000_000),
  },
  recordingsMax: {
    fallback: String(limits.recordingsMax),
    placeholder: 'number',
    description: 'recording requests under way at once, at most',
    parse: integer(1, 1_000_000),
  },
  recordingBytesMax: {
    fallback: String(limits.recordingBytesMax),
    placeholder: 'bytes',
    description: 'bytes of recording requests in memory at once, at most; as much as one may have, at least',
    parse: integer(1024, 64 * 1024 ** 3),
  },
  eventLoopDelayMsMax: {
    flag: 'event-loop-delay-max-ms',
    fallback: String(limits.eventLoopDelayMsMax),
    placeholder: 'milliseconds',
    description:
      'mean delay of the event loop from which on recordings are refused, and reads at four times as much',
    parse: integer(10, 600_000),
  },
  requestTimeoutMs: {
    fallback: String(limits.requestTimeoutMs),
    placeholder: 'milliseconds',
    description: 'how long a request may take to arrive',
    parse: integer(100, hourMs),
  },
  answerTimeoutMs: {
    fallback: String(limits.answerTimeoutMs),
    placeholder: 'milliseconds',
    description: 'how long an answer may take to be made, and again to be taken',
    parse: integer(100, hourMs),
  },
  logLevel: {
    fallback: 'info',
    placeholder: 'level',
    description: `how much to log: ${logLevels.join(', ')}; each request from debug on`,
    parse: oneOf(logLevels),
  },
  logFormat: {
    fallback: 'auto',
    placeholder: 'format',
    description: 'json, pretty for people, or auto: pretty on a terminal',
    parse: oneOf(['auto', 'json', 'pretty']),
  },
  metricsPort: {
    fallback: 'none',
    placeholder: 'number',
    description: 'port of /metrics, for Prometheus; 0 for any free one, none for no metrics',
    parse: orNone(integer(0, 65_535)),
  },
  metricsHost: {
    fallback: '127.0.0.1',
    placeholder: 'address',
    description:
      'address of /metrics; there is no key to it, so choose one that only your Prometheus reaches',
    parse: host,
  },
});

/** Every setting. The docs list them all, which a test checks. */
export const SETTINGS = {
  ...SERVER_SETTINGS,
  ...defineSettings({
    from: {
      environment: 'CALLER_STATS_COPY_FROM',
      placeholder: 'url',
      description: 'the database to copy, as for --database of the other commands',
      hides: mayHoldPassword,
      parse: databaseUrl,
    },
    to: {
      environment: 'CALLER_STATS_COPY_TO',
      placeholder: 'url',
      description: 'the database to copy it into, made where there is none',
      hides: mayHoldPassword,
      parse: databaseUrl,
    },
  }),
};

export type SettingName = keyof typeof SETTINGS;

export type Values<Name extends SettingName> = {
  readonly [Key in Name]: (typeof SETTINGS)[Key] extends Setting<infer Value> ? Value : never;
};

/** The settings of the server. */
export const SERVER_SETTING_NAMES = Object.keys(SERVER_SETTINGS) as (keyof typeof SERVER_SETTINGS)[];

/** The settings of every command that opens the store. A command has only some of them as flags. */
export const STORE_SETTINGS = ['database', 'databaseConnectionsMax', 'databaseTimeoutMs'] as const;

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

/** The variable with the key that `--url` sends. A flag would show in the list of processes. */
export const KEY_VARIABLE = 'CALLER_STATS_KEY';

/** The key for requests to a running server. `UsageError` where it is not set. */
export function readKey(env: Environment): string {
  const key = readVariable(env, KEY_VARIABLE);
  if (key === undefined) {
    throw new UsageError([`--url: needs an API key in the environment variable ${KEY_VARIABLE}`]);
  }
  return key;
}

function databaseUrl(text: string): Result<string> {
  const location = parseDatabaseUrl(text);
  return location.ok ? success(text) : location;
}

function secret(text: string): Result<string> {
  return text.length >= limits.secretCharactersMin
    ? success(text)
    : failure(
        `is shorter than ${limits.secretCharactersMin} characters; make one with: openssl rand -hex 32`,
      );
}

/** Allows plain segments only, because the path must look the same in headers, cookies and pages. */
function basePath(text: string): Result<BasePath> {
  const path = text.replace(/\/$/, '');
  const isPlain = /^(\/[A-Za-z0-9_~.-]+)*$/.test(path) && !/\/\.\.?(\/|$)/.test(path);
  return isPlain && text !== ''
    ? success(path as BasePath)
    : failure('is not a path as /stats, of letters, digits and - _ ~ .');
}
