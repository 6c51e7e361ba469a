/**
 * Finds the secrets of a server. Unless a setting has them, a SQLite database has them in a file beside it that only its owner
 * can read. Backups and copies of the database do not contain it.
 */
import { randomBytes } from 'node:crypto';
import { link, readFile, rename, rm, stat } from 'node:fs/promises';
import { platform } from 'node:os';
import { dirname } from 'node:path';
import type { Logger } from 'pino';
import { SECRET_NAME } from '../../auth/names.js';
import { CallerStatsError } from '../../domain/errors.js';
import { createPrivate } from '../../shared/create-private.js';
import { flushFolder } from '../../shared/flush.js';
import { regularStatsOf } from '../../storage/files.js';
import { locationOf } from '../../storage/open.js';
import type { Store } from '../../storage/ports/store.js';
import { isOpenToOthers } from '../doctor/findings.js';
import { type SECRET_SETTINGS, SETTINGS, secrets, type Values } from '../settings/settings.js';

type SecretSettings = Values<'database' | (typeof SECRET_SETTINGS)[number]>;

type SecretStore = Pick<Store, 'directory'>;

/** Returns the secrets, newest first; none if the store has one for all servers of the database. */
export async function findSecrets(
  { database, secret, secretFile }: SecretSettings,
  store: SecretStore,
  log?: Logger,
): Promise<readonly string[]> {
  if (secret.length > 0) return secret;
  const file = secretFileOf({ database, secretFile });
  const location = locationOf(database);
  if (file !== null && location.kind === 'sqlite') {
    // A file that somebody mounted has the owner and mode of the mount.
    const check = async (): Promise<void> => {
      if (secretFile === null) await requirePrivate(file, location.file);
    };
    // Also before, because adding to the file replaces it.
    await check();
    const found = await keepBeside(file, location.file, store);
    await check();
    return found;
  }
  if (file === null) {
    const advice = `set ${SETTINGS.secret.environment} or --${SETTINGS.secretFile.flag}`;
    log?.warn({ part: 'sign-in' }, `the secret that signs sessions is in the database: ${advice}`);
    return [];
  }
  const found = await readSecrets(file);
  // Each node would make another one.
  if (found.length === 0) throw problem(file, 'is missing or empty; all servers of a database need the same');
  return found;
}

/** The file with the secrets, if no setting has them; null if the store has one. */
export function secretFileOf({ database, secretFile }: Values<'database' | 'secretFile'>): string | null {
  const location = locationOf(database);
  return location.kind === 'sqlite' ? (secretFile ?? `${location.file}.secret`) : secretFile;
}

/** Moves the secret that earlier versions kept in the database into the file, and makes one if there is none. */
async function keepBeside(file: string, database: string, store: SecretStore): Promise<readonly string[]> {
  const stored = await store.directory.findSecret(SECRET_NAME);
  const found = await readSecrets(file);
  if (found.length === 0) {
    await create(file, database, stored ?? randomBytes(32).toString('hex'));
  } else if (stored !== undefined && !found.includes(stored)) {
    // A restored database of an earlier version: its secret is the oldest.
    await replace(file, database, [...found, stored]);
  }
  const kept = await readSecrets(file);
  // The server would keep a secret in the database, and lose it with every second factor at the next start.
  if (kept.length === 0)
    throw problem(file, 'is empty, or a link to nothing; remove it, and the server makes a new one');
  if (stored !== undefined) await store.directory.removeSecret(SECRET_NAME);
  return kept;
}

/** Whoever else owns the file, or can read it, can sign sessions. */
async function requirePrivate(file: string, database: string): Promise<void> {
  const [found, { uid: owner }] = await Promise.all([stat(file).catch(() => undefined), stat(database)]);
  // What cannot be read is refused by whoever reads it.
  if (found === undefined) return;
  const { mode, uid } = found;
  if (uid !== owner && uid !== 0)
    throw problem(
      file,
      `belongs to the user ${uid}, and the database to ${owner}; give both to the user of the server`,
    );
  if (isOpenToOthers(mode, platform()))
    throw problem(
      file,
      'is open to other users; run chmod 600 on it, and make a new secret if others may have read it',
    );
}

/** One on each line. Empty if there is no file. A pipe is refused, because every start and every command reads the file. */
export async function readSecrets(file: string): Promise<readonly string[]> {
  regularStatsOf(file);
  const text = await readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return '';
    throw problem(file, 'cannot be read', cause);
  });
  const lines = text.split('\n').map((line) => line.trim());
  const parsed = secrets(lines.filter((line) => line !== ''));
  if (!parsed.ok) throw problem(file, `has a line that ${parsed.problems[0]}`);
  return parsed.value;
}

/** Creates the file, unless another process does so first. */
async function create(file: string, database: string, secret: string): Promise<void> {
  const whole = await writeBeside(file, database, [secret]);
  try {
    await link(whole, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw problem(file, 'cannot be written', error);
  } finally {
    await rm(whole, { force: true });
  }
  // Durable before the secret leaves the database, and before anything is signed with it.
  flushFolder(dirname(file));
}

async function replace(file: string, database: string, all: readonly string[]): Promise<void> {
  await rename(await writeBeside(file, database, all), file);
  flushFolder(dirname(file));
}

/** Writes another file first, so that nobody reads half of one, for the owner of the database. Returns its name. */
async function writeBeside(file: string, database: string, all: readonly string[]): Promise<string> {
  const name = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    const handle = await createPrivate(name, database);
    try {
      await handle.writeFile(`${all.join('\n')}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (cause) {
    throw problem(file, 'cannot be written', cause);
  }
  return name;
}

function problem(file: string, what: string, cause?: unknown): CallerStatsError {
  return new CallerStatsError('invalid', `The file with secrets ${file} ${what}.`, { cause });
}
