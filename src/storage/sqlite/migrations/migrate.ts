/** What `caller-stats migrate` does to a file. */
import { makePrivately } from '../files/opened-file.js';
import { WriterHandle } from '../writer/writer-handle.js';
import { NEWEST_VERSION } from './migrations.js';

/**
 * Brings a file to the newest version, made where there is none. Gives the name of the copy that is kept of the older one,
 * null where there was none, or with `keepOld` false.
 */
export async function migrateSqliteFile(
  file: string,
  keepOld: boolean,
): Promise<{ readonly version: number; readonly kept: string | null }> {
  await makePrivately(file);
  const writer = await WriterHandle.start({ file, keepOld });
  await writer.close();
  return { version: NEWEST_VERSION, kept: writer.kept };
}
