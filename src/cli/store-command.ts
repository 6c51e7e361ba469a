/** Commands that work on the store: their options, their settings, and how they open the store and print results. */
import { type Command, Option } from 'commander';
import { CallerStatsError } from '../domain/errors.js';
import { parseName } from '../domain/names.js';
import type { Actor } from '../domain/people/audit.js';
import { DEFAULT_ORGANIZATION_ID } from '../domain/projects/organization.js';
import { parseNewId } from '../domain/projects/project.js';
import { collectProblems, prefixProblems, type Result, success } from '../domain/result.js';
import { statsOf } from '../storage/files.js';
import { locationOf, nameOfStore, type OpenOptions, openStore } from '../storage/open.js';
import type { Store } from '../storage/ports/store.js';
import { allOrProblems, FailedResult, type Io, UsageError } from './io.js';
import { type Environment, readVariable } from './settings/setting.js';
import {
  readSettings,
  SETTINGS,
  type SettingName,
  STORE_SETTINGS,
  type StoreSettings,
  settingOption,
  type Values,
} from './settings/settings.js';
import { printJson, printLine } from './terminal/output.js';

/** The result of a command. */
interface Output {
  /** What `--json` prints. */
  readonly json: unknown;
  /** What stdout gets without `--json`: one or several lines. */
  readonly text: string | readonly string[];
  /** Lines for stderr; `--json` leaves them out. */
  readonly notes?: readonly string[];
  /** Whether the exit status is 1. */
  readonly failed?: boolean;
}

/** Completes a command with `--json`, described by `json`, and with an action that prints the output of `run`. */
export function addAction<Options extends object>(
  command: Command,
  io: Io,
  json: string,
  run: (options: Options, args: readonly string[]) => Promise<Output>,
): void {
  command.option('--json', json).action(async () => {
    const options = command.opts<Options & { readonly json?: boolean }>();
    const { json: value, text, notes = [], failed = false } = await run(options, command.args);
    if (options.json) printJson(io.stdout, value);
    else {
      for (const line of [text].flat()) printLine(io.stdout, line);
      for (const note of notes) printLine(io.stderr, note);
    }
    if (failed) throw new FailedResult();
  });
}

interface Call<Input, Name extends SettingName> {
  readonly store: Store;
  /** The author of changes. */
  readonly by: Actor;
  readonly organizationId: string;
  readonly settings: StoreSettings & Values<Name>;
  /** The result of `parse`. */
  readonly input: Input;
}

/**
 * Completes a command with `--organization`, `--database` and `--json`, and with an action that reads everything, reports
 * all problems together, opens the store, runs `run` and prints its output.
 */
export function addStoreAction<Options extends object, Input, Name extends SettingName = never>(
  command: Command,
  io: Io,
  {
    json,
    settings: names = [],
    hasOrganization = true,
    mustExist = true,
    parse,
    run,
  }: {
    /** The help text of `--json`. */
    readonly json: string;
    /** Settings to read besides those of the store. */
    readonly settings?: readonly Name[];
    readonly hasOrganization?: boolean;
    /** If false, the database is created if there is none, and somebody named it. */
    readonly mustExist?: boolean;
    /** Reads the argument and the options. Throws `UsageError`. `settings` is undefined if they are invalid. */
    readonly parse?: (options: Options, argument: string, settings: Values<Name> | undefined) => Input;
    readonly run: (call: Call<Input, Name>) => Promise<Output>;
  },
): void {
  if (hasOrganization) command.addOption(organizationOption());
  command.addOption(settingOption('database'));
  addAction(
    command,
    io,
    json,
    async (options: Options & { readonly organization: string }, [argument = '']) => {
      let settings: (StoreSettings & Values<Name>) | undefined;
      const [valid, input] = allOrProblems(
        () => {
          settings = readSettings([...STORE_SETTINGS, ...names], options, io.env);
          return settings;
        },
        () => parse?.(options, argument, settings) as Input,
      );
      requireMeantDatabase(options, io);
      const by = { name: 'command line', address: null, at: io.clock.now() };
      return runOnStore(
        valid,
        async (store) => {
          const { notes = [], ...output } = await run({
            store,
            by,
            organizationId: options.organization,
            settings: valid,
            input,
          });
          const isNamed = !hasOrganization || command.getOptionValueSource('organization') !== 'default';
          return { ...output, notes: [...notes, ...(isNamed ? [] : await noteOthers(store))] };
        },
        { mustExist },
      );
    },
  );
}

/** Says which organization a command used where there are several. The help does not, because most servers have one. */
async function noteOthers(store: Store): Promise<string[]> {
  const others = (await store.directory.listOrganizations()).filter(
    ({ id }) => id !== DEFAULT_ORGANIZATION_ID,
  );
  const [first] = others;
  if (first === undefined) return [];
  const hint =
    others.length === 1
      ? `For ${first.id}, add --organization ${first.id}.`
      : 'For another one, add --organization ID; caller-stats organization list shows them.';
  return [`Organization: ${DEFAULT_ORGANIZATION_ID}. ${hint}`];
}

/** The value of a result; otherwise `UsageError` with each problem behind `prefix`, such as `--grace: `. */
export function requireValue<T>(result: Result<T>, prefix: string): T {
  if (!result.ok) throw new UsageError(result.problems.map((problem) => prefix + problem));
  return result.value;
}

/** The name and id of a new organization or project. Throws `UsageError` with the problems of both. */
export function readNewName(name: string, id: string | undefined) {
  const parsed = prefixProblems('NAME', parseName(name));
  const parsedId = id === undefined ? success(id) : prefixProblems('--id', parseNewId(id));
  const problems = collectProblems(parsed, parsedId);
  if (problems.length > 0) throw new UsageError(problems);
  return { name, id };
}

/** Not in the help: most servers have one organization. The help of `organization` names it. */
export function organizationOption(): Option {
  return new Option('--organization <id>', 'id of the organization')
    .default(DEFAULT_ORGANIZATION_ID)
    .hideHelp();
}

/** Collects the values of an option that can be given more than once, in order. */
export function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}

/** The settings that a command needs to open a store that exists, or that somebody named. */
export function readStoreSettings(options: object, io: Io): StoreSettings {
  const settings = readSettings(STORE_SETTINGS, options, io.env);
  requireMeantDatabase(options, io);
  return settings;
}

/**
 * Throws `not_found` if nobody named the database, and the default one does not exist. The command was hardly meant for this folder,
 * and what it would create in a new database, such as a key, would be of no use.
 */
function requireMeantDatabase(options: object, { env }: Io): void {
  const missing = missingDefault(options, env);
  if (missing === undefined) return;
  throw new CallerStatsError(
    'not_found',
    `There is no database ${missing}, the default in this folder. ${howToName}`,
  );
}

export const howToName =
  'To use that of a service, name the settings of the service, as in caller-stats --settings /etc/caller-stats.env verify, or name ' +
  'the database with --database or DATABASE_URL. A new one is made by caller-stats serve.';

/** The file of the default database, if nobody named another one, and it does not exist. */
export function missingDefault(options: object, env: Environment): string | undefined {
  const { database } = options as { readonly database?: string };
  if (database !== undefined || readVariable(env, SETTINGS.database.environment) !== undefined)
    return undefined;
  const file = nameOfStore(locationOf(SETTINGS.database.fallback ?? ''));
  return statsOf(file) === undefined ? file : undefined;
}

/** Opens the store, which must exist unless `options` say otherwise, and closes it after `work`, even if that fails. */
export async function runOnStore<T>(
  settings: StoreSettings,
  work: (store: Store) => Promise<T>,
  options: OpenOptions = { mustExist: true },
): Promise<T> {
  const store = await openWithSettings(settings, options);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

export function openWithSettings(settings: StoreSettings, options: OpenOptions): Promise<Store> {
  return openStore(settings.database, { ...connectionLimits(settings), ...options });
}

/** The limits of the connections to PostgreSQL. */
export function connectionLimits(
  settings: Values<'databaseConnectionsMax' | 'databaseTimeoutMs'>,
): Pick<OpenOptions, 'connectionsMax' | 'timeoutMs'> {
  return { connectionsMax: settings.databaseConnectionsMax, timeoutMs: settings.databaseTimeoutMs };
}
