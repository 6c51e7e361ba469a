import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CallerStatsError } from '../domain/errors.js';
import { openStore } from '../storage/open.js';
import type { Store } from '../storage/ports/store.js';
import type { Io } from './io.js';

/** Runs `work` on an empty store in a temporary folder, and removes the folder afterwards, also if the process is stopped. */
export async function runOnTemporaryStore<T>(io: Io, work: (store: Store) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'caller-stats-dry-run-'));
  const stopped = io.stopRequested().then((signal) => {
    throw new CallerStatsError('unavailable', `Stopped by ${signal}.`);
  });
  try {
    const store = await openStore(`sqlite:${join(folder, 'queries.db')}`, { forImport: true });
    try {
      return await Promise.race([work(store), stopped]);
    } finally {
      await store.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
