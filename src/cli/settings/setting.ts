/** What a setting is, and how its value is read and checked. `settings.ts` has the settings. */
import { isLoopbackHost } from '../../domain/keys/networks.js';
import { failure, quote, type Result, success } from '../../domain/result.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** An entry of the table of settings. */
export interface SettingDefinition<Value> {
  /** The flag, if it is not the name in kebab case. */
  readonly flag?: string;
  /** The environment variable, if it is not `CALLER_STATS_` and the flag in capitals. */
  readonly environment?: string;
  /** The default; missing if the user must give a value. */
  readonly fallback?: string;
  /** Stands for the value in the help text. */
  readonly placeholder: string;
  readonly description: string;
  /** A secret: it has no flag, because any user of the machine can list processes, and never appears in messages. */
  readonly environmentOnly?: true;
  /** Whether a value may contain a secret, and must not appear in messages. */
  readonly hides?: (text: string) => boolean;
  /** Problems continue a sentence that begins with the setting's name and value. */
  readonly parse: (text: string) => Result<Value>;
}

export interface Setting<Value = unknown> extends SettingDefinition<Value> {
  /** Without the dashes. */
  readonly flag: string;
  readonly environment: string;
}

/** The flag of an option, without the dashes: `portMax` is `port-max`. */
export function toFlag(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** Gives each setting its flag and its variable: `portMax` is `--port-max` and `CALLER_STATS_PORT_MAX`. */
export function defineSettings<Values>(
  table: {
    readonly [Name in keyof Values]: SettingDefinition<Values[Name]>;
  },
): { readonly [Name in keyof Values]: Setting<Values[Name]> } {
  const settings = Object.entries<SettingDefinition<unknown>>(table).map(([name, definition]) => {
    const flag = definition.flag ?? toFlag(name);
    const environment = `CALLER_STATS_${flag.replaceAll('-', '_').toUpperCase()}`;
    return [name, { environment, ...definition, flag }];
  });
  return Object.fromEntries(settings);
}

/** Reads a setting: from its flag, else from its variable, else its default. Problems name the flag or the variable. */
export function readSetting(
  { flag, environment, fallback, parse, environmentOnly, hides }: Setting,
  given: unknown,
  env: Environment,
): Result<unknown> {
  const fromEnvironment = readVariable(env, environment);
  const text = typeof given === 'string' ? given : (fromEnvironment ?? fallback);
  if (text === undefined) return failure(`--${flag}: is missing; give it, or set ${environment}`);
  const value = parse(text);
  if (value.ok) return value;
  const source = typeof given === 'string' ? `--${flag}` : environment;
  const shown = environmentOnly || hides?.(text) ? 'its value' : quote(text);
  return failure(...value.problems.map((problem) => `${source}: ${shown} ${problem}`));
}

/** An empty variable counts as not set, because Compose files and shells create such variables. */
export function readVariable(env: Environment, name: string): string | undefined {
  return env[name] === '' ? undefined : env[name];
}

/** The default and the parser of a setting that is `none`, which becomes null, unless it is given. */
export function optionalSetting<T>(placeholder: string, parse: (text: string) => Result<T>) {
  return {
    placeholder,
    fallback: 'none',
    parse: (text: string): Result<T | null> => (text === 'none' ? success(null) : parse(text)),
  };
}

/** The default and the parser of a setting that is a whole number. */
export function integerSetting(
  placeholder: string,
  fallback: number,
  { min, max }: { readonly min: number; readonly max: number },
) {
  return { placeholder, fallback: String(fallback), parse: integer(min, max) };
}

export function integer(min: number, max: number): (text: string) => Result<number> {
  return (text) => {
    const value = Number(text);
    return /^\d{1,15}$/.test(text) && value >= min && value <= max
      ? success(value)
      : failure(`is not a whole number from ${min} to ${max}`);
  };
}

/** An address to listen on. */
export function host(text: string): Result<string> {
  return /^[^\s/]+$/.test(text) ? success(text) : failure('is not an address or a host name');
}

/** A web address without path, query and fragment. The result has no trailing slash. */
export function origin(text: string): Result<string> {
  const address = webAddress(text);
  if (!address.ok) return address;
  const url = new URL(text);
  return url.href === `${url.origin}/`
    ? success(url.origin)
    : failure('has more than a scheme, host and port; a path is for --base-path');
}

export function webAddress(text: string): Result<string> {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
    ? success(text)
    : failure('is not an address that begins with https:// or http://');
}

/** A web address whose traffic nobody else can read or change: with TLS, or on this machine. */
export function safeWebAddress(text: string): Result<string> {
  const address = webAddress(text);
  const { protocol, hostname } = new URL(address.ok ? text : 'https://none');
  const isSafe = protocol === 'https:' || isLoopbackHost(hostname);
  return address.ok && isSafe ? address : failure('is not an address that begins with https://');
}

/** Whether a text that should be a database URL may hold a password, well-formed or not. */
export function mayHoldPassword(text: string): boolean {
  return /@|password=/i.test(text);
}

/** A command-line argument with asterisks in place of the password of a URL in it. */
export function maskPassword(argument: string): string {
  return argument
    .replace(/(:\/\/[^/:@?#]*):.*@/, '$1:***@')
    .replaceAll(/([?&](?:password|sslpassword)=)[^&]*/gi, '$1***');
}
