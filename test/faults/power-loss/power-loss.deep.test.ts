/** Power fails at any moment: the disk loses and tears what was not synced. Nothing that was acknowledged is lost. */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { NEWEST_VERSION } from '../../../src/storage/sqlite/migrations/index.js';
import { sharedByTests } from '../../support/cleanup.js';
import { keptQueries } from '../../support/kept-queries.js';
import { upgradedVersions, writeKept } from '../../support/storage/kept-schemas.js';
import { temporaryFolder } from '../../support/temporary.js';
import { newSeed } from '../../support/volume.js';
import { losePower, loseSyncs, type Recorded, recordStory } from './campaign.js';
import {
  type Check,
  checkBackingUp,
  checkMigrating,
  checkRecording,
  checkRestoring,
  checkSpooling,
} from './checks.js';
import type { Planted } from './disk.js';

/** The name of the database in the story `migrating`. */
const oldName = 'old.db';

/** More than ten thousand states in all. */
const statesOf = (all: number): number => Number(process.env['CALLER_STATS_POWER_LOSSES'] ?? all);

interface Story {
  readonly name: string;
  readonly states: number;
  readonly check: (recorded: Recorded) => Check;
  /** Syncs without which something must be found. */
  readonly needed: Readonly<Record<string, Planted>>;
  readonly prepare?: (folder: string) => void;
}

const isIn =
  (end: RegExp): Planted =>
  (path, isFolder) =>
    !isFolder && end.test(path);
const isFolder =
  (end: RegExp): Planted =>
  (path, is) =>
    is && end.test(path);

const stories: readonly Story[] = [
  {
    name: 'recording',
    states: statesOf(3500),
    check: ({ folder }) => checkRecording(folder),
    needed: {
      'the log of the database': isIn(/stats\.db-wal$/),
      'the database, before its log is emptied': isIn(/stats\.db$/),
      'the folder of the database': isFolder(/\/new$/),
      'its folder': isFolder(/\/data$/),
      'the secret': isIn(/stats\.db\.secret\./),
      'the file for the first keys': isIn(/first-run$/),
    },
  },
  ...upgradedVersions.map((version) => ({
    name: 'migrating',
    states: statesOf(2000),
    check: ({ folder }: Recorded) =>
      checkMigrating(folder, {
        name: oldName,
        version,
        newest: NEWEST_VERSION,
        queries: keptQueries.length,
      }),
    needed: {
      'the copy of the old version': isIn(/\.caller-stats-\w+\/database$/),
      'the folder': isFolder(/\/disk$/),
      'the log': isIn(/old\.db-wal$/),
    },
    prepare: (folder: string) => writeKept(join(folder, oldName), version),
  })),
  {
    name: 'backingUp',
    states: statesOf(2000),
    check: () => checkBackingUp,
    needed: {
      'the backup': isIn(/\.caller-stats-\w+\/database$/),
      'its folder': isFolder(/\/daily$/),
      'the folder of its folder': isFolder(/\/backups$/),
    },
  },
  {
    name: 'restoring',
    states: statesOf(1500),
    check: () => checkRestoring,
    needed: {
      'the restored database': isIn(/\.caller-stats-\w+\/database$/),
      'the folder': isFolder(/\/disk$/),
      'a new folder': isFolder(/\/machine$/),
      'the folder of a new folder': isFolder(/\/other$/),
    },
  },
  {
    name: 'spooling',
    states: statesOf(1500),
    check: ({ folder }) => checkSpooling(folder),
    needed: {
      'the file': isIn(/queries\.spool\/[^/]+\.ndjson$/),
      'the folder': isFolder(/\/queries\.spool\/?$/),
      'the folder of the folder': isFolder(/\/disk\/?$/),
    },
  },
];

describe.each(stories)('$name', ({ name, states, check, needed, prepare }) => {
  const shared = sharedByTests(async () => {
    const place = await temporaryFolder();
    return { place, recorded: await recordStory(name, place, prepare) };
  }, 300_000);

  test('keeps every promise', { timeout: 3_000_000 }, async () => {
    const { place, recorded } = shared();
    const seed = `${newSeed(`power loss while ${name}`)}`;
    expect(await losePower(recorded, { seed, states, place, check: check(recorded) })).toEqual([]);
    process.stdout.write(`${name}: ${states} states after a power failure\n`);
  });

  test.each(Object.entries(needed))(
    'would not without the sync of %s',
    { timeout: 1_200_000 },
    async (what, planted) => {
      const { place, recorded } = shared();
      const given = { seed: what, states: 2000, place, check: check(recorded) };
      const found = await loseSyncs(recorded, planted, given);
      process.stdout.write(`${name} without the sync of ${what}: found after ${found.states} states\n`);
      expect(found.problem).toBeDefined();
    },
  );
});
