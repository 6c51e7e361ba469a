/** Commands that work on the store: their options, their settings, and how they open the store and print results. */
import { type Command, Option } from 'commander';
import type { Actor } from '../domain/people/audit.js';
import { DEFAULT_ORGANIZATION_ID, parseName, parseNewId } from '../domain/projects/project.js';
import { collectProblems, prefixProblems, type Result, success } from '../domain/result.js';
import { type OpenOptions, openStore } from '../storage/open.js';
import type { Store } from '../storage/ports/store.js';
import { allOrProblems, type Io, UsageError } from './io.js';
import {
  readSettings,
  type SettingName,
  STORE_SETTINGS,
  type StoreSettings,
  settingOption,
  type Values,
} from './settings/settings.js';
import { printJson, printLine, printTable } from './terminal/output.js';

/** The result of a command. */
interface Output {
  /** What `--json` prints. */
  readonly json: unknown;
  /** What stdout gets without `--json`: a line, or a table. */
  readonly text: string | { readonly titles: readonly string[]; readonly rows: readonly string[][] };
  /** Lines for stderr; `--json` leaves them out. */
  readonly notes?: readonly string[];
}

interface Call<Input, Name extends SettingName> {
  readonly store: Store;
  /** The author of changes. */
  readonly by: Actor;
  readonly organizationId: string;
  readonly settings: Values<Name>;
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
    /** If false, the database is created if there is none. */
    readonly mustExist?: boolean;
    /** Reads the argument and the options. Throws `UsageError`. `settings` is undefined if they are invalid. */
    readonly parse: (options: Options, argument: string, settings: Values<Name> | undefined) => Input;
    readonly run: (call: Call<Input, Name>) => Promise<Output>;
  },
): void {
  if (hasOrganization) command.addOption(organizationOption());
  command
    .addOption(settingOption('database'))
    .option('--json', json)
    .action(async () => {
      const options = command.opts<Options & { readonly organization: string; readonly json?: boolean }>();
      let settings: (StoreSettings & Values<Name>) | undefined;
      const [valid, input] = allOrProblems(
        () => {
          settings = readSettings([...STORE_SETTINGS, ...names], options, io.env);
          return settings;
        },
        () => parse(options, command.args[0] ?? '', settings),
      );
      const by = { name: 'command line', address: null, at: io.clock.now() };
      const {
        json: value,
        text,
        notes = [],
      } = await runOnStore(
        valid,
        (store) => run({ store, by, organizationId: options.organization, settings: valid, input }),
        { mustExist },
      );
      if (options.json) return printJson(io.stdout, value);
      if (typeof text === 'string') printLine(io.stdout, text);
      else printTable(io.stdout, text.titles, text.rows);
      for (const note of notes) printLine(io.stderr, note);
    });
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

export function organizationOption(): Option {
  return new Option('--organization <id>', 'id of the organization').default(DEFAULT_ORGANIZATION_ID);
}

/** Collects the values of an option that can be given more than once, in order. */
export function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}

/** The settings that a command needs to open the store. */
export function readStoreSettings(options: object, io: Io): StoreSettings {
  return readSettings(STORE_SETTINGS, options, io.env);
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

export function openWithSettings(
  { database, databaseConnectionsMax, databaseTimeoutMs }: StoreSettings,
  options: OpenOptions,
): Promise<Store> {
  return openStore(database, {
    connectionsMax: databaseConnectionsMax,
    timeoutMs: databaseTimeoutMs,
    ...options,
  });
}
