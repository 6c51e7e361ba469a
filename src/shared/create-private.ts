import { type FileHandle, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Creates a file that only its owner can read. Root makes it for the owner of `like`, because the service that needs it runs as another
 * user. Throws what `open` throws, such as `EEXIST`.
 */
export async function createPrivate(file: string, like = dirname(file)): Promise<FileHandle> {
  const { uid, gid } = await stat(like);
  const handle = await open(file, 'wx', 0o600);
  // Root of a container may not give files away; they stay its own.
  if ((await handle.stat()).uid === 0 && uid !== 0) await handle.chown(uid, gid).catch(() => {});
  return handle;
}
