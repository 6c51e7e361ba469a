/** A folder of backups, whose names have their times. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { CallerStatsError } from '../domain/errors.js';
import { findKept, type Generations } from '../domain/time/generations.js';
import { backUpStore, type Contents, restoreStore } from '../storage/backup.js';
import { openStore } from '../storage/open.js';

export interface Generation extends Contents {
  readonly file: string;
  /** The names of the backups that were removed. */
  readonly removed: readonly string[];
}

/**
 * Adds a backup, restores it elsewhere and recounts that, and only then removes the backups that `generations` no longer keeps. Throws
 * `unavailable` if the restored one is not sound; then all stay.
 */
export async function addGeneration(
  url: string,
  folder: string,
  generations: Generations,
  nowMs: number,
): Promise<Generation> {
  const name = nameOf(nowMs);
  const file = join(folder, name);
  const contents = await backUpStore(url, file, { replace: false });
  await requireSound(file, folder, nowMs);
  const times = (await readdir(folder)).flatMap((one) => timeOf(one) ?? []);
  const kept = findKept(times, generations);
  const removed = times.filter((time) => !kept.has(time) && time < nowMs).map(nameOf);
  for (const one of removed) await rm(join(folder, one));
  return { ...contents, file, removed };
}

/** Restores a backup into a folder beside it, which is removed afterwards, and recounts everything there. */
async function requireSound(file: string, folder: string, nowMs: number): Promise<void> {
  const place = await mkdtemp(join(folder, '.caller-stats-check-'));
  try {
    const url = `sqlite:${join(resolve(place), 'restored.db')}`;
    await restoreStore(file, url, { replace: false, nowMs });
    const store = await openStore(url, { mustExist: true });
    const { damage, differencesTotal } = await store.maintenance.verify().finally(() => store.close());
    if (damage.length === 0 && differencesTotal === 0) return;
    throw new CallerStatsError(
      'unavailable',
      `${resolve(file)} was restored for a check, and is not sound: caller-stats verify says what is wrong with the database. All older backups were kept.`,
    );
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

/** To the second, in UTC: `caller-stats-20261126T030000Z.db`. */
function nameOf(timeMs: number): string {
  return `caller-stats-${new Date(timeMs).toISOString().replaceAll(/[-:]|\.\d+/g, '')}.db`;
}

/** Undefined for any other file. */
function timeOf(name: string): number | undefined {
  const parts = /^caller-stats-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.db$/.exec(name);
  if (parts === null) return undefined;
  const [year = 0, month = 0, ...rest] = parts.slice(1).map(Number);
  const time = Date.UTC(year, month - 1, ...rest);
  return nameOf(time) === name ? time : undefined;
}
