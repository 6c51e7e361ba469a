/** What commands that work on the store have in common: options, settings, and who acts. */
import { Option } from 'commander';
import type { Actor } from '../domain/people/audit.js';
import { DEFAULT_ORGANIZATION_ID } from '../domain/projects/project.js';
import type { Clock } from '../domain/time/clock.js';
import { type OpenOptions, openStore } from '../storage/open.js';
import type { Store } from '../storage/ports/store.js';
import type { Io } from './io.js';
import { readSettings, STORE_SETTINGS, type StoreSettings } from './settings/settings.js';

export function organizationOption(): Option {
  return new Option('--organization <id>', 'the organization they belong to').default(
    DEFAULT_ORGANIZATION_ID,
  );
}

/** For options that may be given more than once: all their values, in order. */
export function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}

/** The operating system tells its users apart; the audit log does not. */
export function commandLineActor(clock: Clock): Actor {
  return { name: 'command line', address: null, at: clock.now() };
}

/** The settings that a command needs to open the store. */
export function readStoreSettings(options: object, io: Io): StoreSettings {
  return readSettings(STORE_SETTINGS, options, io.env);
}

/** Opens the store, which must exist unless `options` say otherwise, and closes it after `work` whatever happens. */
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
