/** The checks of `caller-stats doctor` on the database: its folder, files, disk, contents, clock and secret. */
import { constants } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import { platform } from 'node:os';
import { dirname, resolve } from 'node:path';
import { describeExpiring, findRefusals, type Loss } from '../../app/losses.js';
import { CallerStatsError, describeError } from '../../domain/errors.js';
import { formatTime } from '../../domain/format.js';
import { refusesKeys } from '../../domain/ingestion/refusals.js';
import { expiryNotice } from '../../domain/keys/key-lifetime.js';
import { inspectStore, locationOf, nameOfStore, readStore } from '../../storage/open.js';
import type { Inspected } from '../../storage/ports/store-stats.js';
import { readSecrets, secretFileOf } from '../server/secret-file.js';
import type { ServerSettings } from '../settings/server-settings.js';
import { SETTINGS } from '../settings/settings.js';
import { connectionLimits } from '../store-command.js';
import { type Finding, isOpenToOthers, judgeClock, judgeCluster, judgeDisk } from './findings.js';

interface File {
  readonly name: string;
  readonly bytes: number;
  readonly mode: number;
  readonly changedMs: number;
}

export async function checkDatabase(settings: ServerSettings, nowMs: number): Promise<Finding[]> {
  const location = locationOf(settings.database);
  if (location.kind === 'postgres') {
    const { finding, inspected } = await checkContents(settings);
    const losses = await checkLosses(settings, inspected, nowMs);
    const clock =
      inspected?.clockMs === undefined
        ? []
        : [judgeClock(nowMs, inspected.clockMs, 'the clock of the database')];
    const cluster = inspected?.cluster === undefined ? [] : [judgeCluster(inspected.cluster)];
    return [finding, ...cluster, ...losses, ...clock, await checkSecret(settings)];
  }
  const file = resolve(location.file);
  const folder = await checkFolder(dirname(file));
  if (folder.status === 'problem') return [folder];
  const files = (await Promise.all([file, `${file}-wal`].map(find))).flatMap((found) => found ?? []);
  const existing = await nearestFolder(dirname(file));
  const { bavail, bsize } = await statfs(existing);
  const { finding, inspected } = await checkContents(settings);
  const databaseBytes = files.reduce((sum, { bytes }) => sum + bytes, 0);
  return [
    folder,
    ...(await Promise.all(files.map(checkPermissions))),
    judgeDisk(existing, bavail * bsize, databaseBytes),
    finding,
    ...(await checkLosses(settings, inspected, nowMs)),
    checkFileClock(nowMs, Math.max(0, ...files.map(({ changedMs }) => changedMs))),
    await checkSecret(settings),
  ];
}

/** The server makes the folder if it can write to the nearest one that exists. */
async function checkFolder(folder: string): Promise<Finding> {
  const existing = await nearestFolder(folder);
  const advice = `choose another database with --${SETTINGS.database.flag}, or give this user the folder`;
  if (!(await stat(existing)).isDirectory()) {
    return { check: 'folder', status: 'problem', message: `${existing} is not a folder`, advice };
  }
  if (!(await isAllowed(existing, constants.W_OK | constants.X_OK))) {
    const message = `this user cannot create files in ${existing}`;
    return { check: 'folder', status: 'problem', message, advice };
  }
  const message = existing === folder ? `${folder} can be written` : `the server will create ${folder}`;
  return { check: 'folder', status: 'ok', message };
}

async function nearestFolder(folder: string): Promise<string> {
  const isMissing = await stat(folder).then(
    () => false,
    () => dirname(folder) !== folder,
  );
  return isMissing ? nearestFolder(dirname(folder)) : folder;
}

async function checkPermissions({ name, mode }: File): Promise<Finding> {
  if (!(await isAllowed(name, constants.R_OK | constants.W_OK))) {
    const advice = 'give the file to the user of the server, or run this command as that user';
    return {
      check: 'permissions',
      status: 'problem',
      message: `this user cannot read and write ${name}`,
      advice,
    };
  }
  const ofRoot = await findRootsFile('permissions', name, dirname(name));
  if (ofRoot !== undefined) return ofRoot;
  if (isOpenToOthers(mode, platform())) return openToOthers('permissions', 'warning', name);
  return { check: 'permissions', status: 'ok', message: `only its owner can read ${name}` };
}

/** Root can read everything, but the user of the server, who owns the folder of the database, cannot read a file of root. */
async function findRootsFile(
  check: Finding['check'],
  name: string,
  databaseFolder: string,
): Promise<Finding | undefined> {
  const [file, folder] = await Promise.all([stat(name), stat(await nearestFolder(databaseFolder))]);
  if (file.uid !== 0 || folder.uid === 0) return undefined;
  return {
    check,
    status: 'warning',
    message: `${name} belongs to root, and the folder of the database to the user ${folder.uid}: as whom does the server run?`,
    advice: `unless it runs as root: chown ${folder.uid}:${folder.gid} '${name}'`,
  };
}

function openToOthers(check: Finding['check'], status: Finding['status'], name: string): Finding {
  return {
    check,
    status,
    message: `other users of this machine have permissions on ${name}`,
    advice: `run: chmod 600 '${name}'`,
  };
}

async function checkContents(
  settings: ServerSettings,
): Promise<{ readonly finding: Finding; readonly inspected?: Inspected }> {
  const name = nameOfStore(locationOf(settings.database));
  try {
    const inspected = await inspectStore(settings.database, connectionLimits(settings));
    return { inspected, finding: { check: 'database', status: 'ok', message: describe(name, inspected) } };
  } catch (error) {
    if (!(error instanceof CallerStatsError)) throw error;
    return { finding: problemOf('database', error) };
  }
}

/** Keys that will stop to record, and requests that were refused in the last day. */
async function checkLosses(
  settings: ServerSettings,
  inspected: Inspected | undefined,
  nowMs: number,
): Promise<Finding[]> {
  if (inspected === undefined || inspected.version !== inspected.newest) return [];
  try {
    const losses = await readStore(settings.database, connectionLimits(settings), async (reads) => {
      const found: Loss[] = [];
      const note = (where: string, { message, remedy }: Loss) =>
        found.push({ message: `${where}: ${message}`, remedy });
      // A key for all projects of an organization is named once.
      for (const key of await reads.directory.listExpiringKeys(expiryNotice(nowMs)))
        note(key.projectId ?? `organization ${key.organizationId}`, describeExpiring(key));
      for (const organization of await reads.directory.listOrganizations())
        for (const { id } of await reads.directory.listProjects(organization.id))
          for (const refusal of await findRefusals(reads.ingestion, id, nowMs, refusesKeys))
            note(id, refusal);
      return found;
    });
    if (losses.length === 0) {
      const message =
        'no key in use expires within 30 days, and nothing with a key was refused in the last day';
      return [{ check: 'recording', status: 'ok', message }];
    }
    return losses.map(({ message, remedy }) => ({
      check: 'recording',
      status: 'warning',
      message,
      advice: remedy,
    }));
  } catch (error) {
    if (!(error instanceof CallerStatsError)) throw error;
    return [problemOf('recording', error)];
  }
}

function describe(name: string, { version, newest }: Inspected): string {
  if (version === 0) return `${name} is empty or does not exist; the server will set it up`;
  if (version < newest)
    return `${name} has schema version ${version}; the next start upgrades it to ${newest}`;
  return `${name} has schema version ${version}, the newest that this program knows`;
}

/** Without a second clock, a file from the future is the only sign of a wrong one. */
function checkFileClock(nowMs: number, changedMs: number): Finding {
  if (changedMs > nowMs) {
    const clock = judgeClock(nowMs, changedMs, `the last change of the database (${formatTime(changedMs)})`);
    if (clock.status === 'problem') return clock;
  }
  return { check: 'clock', status: 'ok', message: `says ${formatTime(nowMs)}` };
}

async function checkSecret(settings: ServerSettings): Promise<Finding> {
  const variable = SETTINGS.secret.environment;
  if (settings.secret.length > 0) return { check: 'secret', status: 'ok', message: `is in ${variable}` };
  const file = secretFileOf(settings);
  if (file === null) {
    const message = 'is in the database, so backups contain it';
    const advice = `set ${variable} or --${SETTINGS.secretFile.flag}`;
    return { check: 'secret', status: 'warning', message, advice };
  }
  try {
    const isThere = (await readSecrets(file)).length > 0;
    if (!isThere) return missingSecret(file, locationOf(settings.database).kind === 'sqlite');
  } catch (error) {
    if (!(error instanceof CallerStatsError)) throw error;
    return problemOf('secret', error);
  }
  const { mode } = await stat(file);
  if (isOpenToOthers(mode, platform())) return openToOthers('secret', 'problem', file);
  const location = locationOf(settings.database);
  const ofRoot =
    location.kind === 'sqlite'
      ? await findRootsFile('secret', file, dirname(resolve(location.file)))
      : undefined;
  return ofRoot ?? { check: 'secret', status: 'ok', message: `is in ${file}` };
}

function missingSecret(file: string, isMade: boolean): Finding {
  if (!isMade) {
    const advice = 'copy the file of another server of this database, or make one with: openssl rand -hex 32';
    return { check: 'secret', status: 'problem', message: `${file} is missing or empty`, advice };
  }
  const message = `the server will create ${file}; if this database had one before, restore it first`;
  return { check: 'secret', status: 'ok', message };
}

function problemOf(check: Finding['check'], error: CallerStatsError): Finding {
  return { check, status: 'problem', message: describeError(error).join(' ') };
}

function isAllowed(name: string, mode: number): Promise<boolean> {
  return access(name, mode).then(
    () => true,
    () => false,
  );
}

async function find(name: string): Promise<File | undefined> {
  const found = await stat(name).catch(() => undefined);
  return found && { name, bytes: found.size, mode: found.mode, changedMs: found.mtimeMs };
}
