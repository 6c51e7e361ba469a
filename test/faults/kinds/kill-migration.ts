/** Upgrades of an old schema are killed: the file has the old or the new schema, and the copy of the old one is complete. */
import { mkdir, rm } from 'node:fs/promises';
import { DatabaseSync } from '@photostructure/sqlite';
import { OLDEST_VERSION } from '../../../src/storage/sql/oldest-version.js';
import { MIGRATIONS, NEWEST_VERSION } from '../../../src/storage/sqlite/migrations/index.js';
import { type Fault, killWithin, type Round, underLoad } from '../fault.js';

const killsMost = 3;
const withinMs = 1_200;

export const killMigration: Fault = {
  name: 'kill-migration',
  // Without a later version there is nothing to upgrade.
  stores: NEWEST_VERSION > OLDEST_VERSION ? ['sqlite'] : [],
  run: (round) =>
    underLoad(round, async (_load, node) => {
      const { world, draw, tally } = round;
      await world.stop(node);
      takeBack(world.file);
      for (let kills = 0; kills < 1 + draw.below(killsMost); kills++) {
        const running = world.startCommand(
          draw.oneIn(2) ? ['migrate'] : ['serve', '--port', '0', '--log-level', 'warn'],
        );
        await killWithin(round, running.pid, withinMs);
        await running.ended;
        const version = versionOf(world.file);
        tally.note(
          version === OLDEST_VERSION ? 'migration killed' : 'migration was done before it was killed',
        );
        if (version !== OLDEST_VERSION && version !== NEWEST_VERSION)
          world.problems.push(`after a kill, the schema has version ${version}`);
      }
      await world.succeed(['migrate']);
      await world.verify();
      await expectKept(round);
      await world.join();
    }),
};

/** Turns a current database into one of the oldest version. */
function takeBack(file: string): void {
  const old = new DatabaseSync(':memory:');
  old.exec(MIGRATIONS[0] ?? '');
  // Without those that SQLite creates itself.
  const namesOf = (db: typeof old, type: 'table' | 'index'): string[] =>
    db
      .prepare("SELECT name FROM sqlite_schema WHERE type = ? AND name NOT LIKE 'sqlite_%'")
      .all(type)
      .map(({ name }) => String(name));
  const columnsOf = (db: typeof old, table: string): string[] =>
    db
      .prepare(`PRAGMA table_info(${table})`)
      .all()
      .map(({ name }) => String(name));
  const kept = new Set(namesOf(old, 'table'));
  const db = new DatabaseSync(file, { enableForeignKeyConstraints: false });
  db.exec('BEGIN');
  const had = new Set(namesOf(old, 'index'));
  for (const index of namesOf(db, 'index').filter((one) => !had.has(one))) db.exec(`DROP INDEX ${index}`);
  for (const table of namesOf(db, 'table')) {
    if (!kept.has(table)) {
      db.exec(`DROP TABLE ${table}`);
      continue;
    }
    const columns = new Set(columnsOf(old, table));
    for (const column of columnsOf(db, table).filter((one) => !columns.has(one)))
      db.exec(`ALTER TABLE ${table} DROP COLUMN ${column}`);
  }
  db.exec(`PRAGMA user_version = ${OLDEST_VERSION}; COMMIT`);
  db.close();
  old.close();
}

function versionOf(file: string): number {
  const db = new DatabaseSync(file);
  try {
    return Number(db.prepare('PRAGMA user_version').get()['user_version']);
  } finally {
    db.close();
  }
}

/** Expects that the copy made before the upgrade can be restored and has everything acknowledged before. */
async function expectKept({ world }: Round): Promise<void> {
  const kept = `${world.file}.version-${OLDEST_VERSION}`;
  const folder = world.path('elsewhere');
  await mkdir(folder);
  const database = `sqlite:${folder}/kept.db`;
  await world.succeed(['restore', kept, '--database', database]);
  await world.verify(database);
  await rm(folder, { recursive: true });
  await rm(kept);
}
