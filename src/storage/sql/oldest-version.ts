/** Schema versions of both stores. */
import { CallerStatsError } from '../../domain/errors.js';

/** The first released version. Earlier ones are refused. */
export const OLDEST_VERSION = 19;

/** The last commit whose `migrate` upgrades earlier versions. */
const UPGRADE_COMMIT = 'cefa7108059c3abd54ba98a0076338bf0ee928d1';

/** Throws `unavailable` if a database, which is not empty, has a version from before `OLDEST_VERSION`. */
export function requireReleased(version: number, name: string): void {
  if (version >= OLDEST_VERSION) return;
  throw new CallerStatsError(
    'unavailable',
    `${name} has schema version ${version}, which was never released; this caller-stats upgrades versions from ` +
      `${OLDEST_VERSION} on. Open it with commit ${UPGRADE_COMMIT} of caller-stats first, whose migrate command upgrades ` +
      `it to version ${OLDEST_VERSION}.`,
  );
}
