import { Database, type DatabaseOptions } from '../database.js';
import type { PostgresLocation } from '../location.js';
import { distribute } from './distribute.js';
import { migrate, NEWEST_VERSION } from './migrations.js';

/** What `administer` did. */
export interface Administration {
  /** The schema's version now. */
  readonly version: number;
  /** What was distributed over a cluster by this call. */
  readonly distributed: readonly string[];
}

/** Brings the schema up to date and, where asked to, distributes it (see `distribute`). Waits as long as it takes. */
export async function administer(
  location: PostgresLocation,
  options: DatabaseOptions & { readonly distribute: boolean },
): Promise<Administration> {
  const database = new Database(location, options);
  try {
    return await database.session(async (session) => {
      await migrate(session, location, true);
      const distributed = options.distribute ? await distribute(session, location) : [];
      return { version: NEWEST_VERSION, distributed };
    });
  } finally {
    await database.close();
  }
}
