/** One setting: what it is called, what it may be, and how it is read. */
import { failure, quote, type Result, success } from '../../domain/result.js';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Setting<T> {
  /** Without the dashes. */
  readonly flag: string;
  readonly environment: string;
  /** What holds where it is given nowhere; none for what somebody must say. */
  readonly fallback?: string;
  /** What stands for the value in the manual. */
  readonly placeholder: string;
  readonly description: string;
  /** A secret, which has no flag: everybody on the machine can read the list of processes. */
  readonly environmentOnly?: true;
  /** Whether a value may hold a secret, and is not to be shown then. */
  readonly hides?: (text: string) => boolean;
  /** Problems go on from the setting's name and value. */
  readonly parse: (text: string) => Result<T>;
}

export function setting<T>(definition: Setting<T>): Setting<T> {
  return definition;
}

/** Reads a setting; problems name its flag or variable. */
export function readSetting(
  { flag, environment, fallback, parse, hides }: Setting<unknown>,
  given: unknown,
  env: Environment,
): Result<unknown> {
  // A variable that is set to nothing counts as not set, as Compose files and shells make them.
  const fromEnvironment = env[environment] === '' ? undefined : env[environment];
  const text = typeof given === 'string' ? given : (fromEnvironment ?? fallback);
  if (text === undefined) return failure(`--${flag}: is missing; give it, or set ${environment}`);
  const value = parse(text);
  if (value.ok) return value;
  const source = typeof given === 'string' ? `--${flag}` : environment;
  const shown = hides?.(text) ? 'its value' : quote(text);
  return failure(...value.problems.map((problem) => `${source}: ${shown} ${problem}`));
}

/** An address of the web without path, query or fragment, and without a slash behind it. */
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

export function integer(min: number, max: number): (text: string) => Result<number> {
  return (text) => {
    const value = Number(text);
    return /^\d{1,15}$/.test(text) && value >= min && value <= max
      ? success(value)
      : failure(`is not a whole number from ${min} to ${max}`);
  };
}
