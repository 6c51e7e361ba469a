import { existsSync } from 'node:fs';
import { mkdtemp, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { inject } from 'vitest';

const prepared = new Map<string, Promise<string>>();

/**
 * A folder that is expensive to prepare, such as one with a filled database. The first test of a run that asks for a name
 * prepares it; all others, in any file, get the same folder. Copy it before you change anything.
 */
export function templateFolder(name: string, prepare: (folder: string) => Promise<void>): Promise<string> {
  const folder = prepared.get(name) ?? prepareOnce(name, prepare);
  prepared.set(name, folder);
  return folder;
}

async function prepareOnce(name: string, prepare: (folder: string) => Promise<void>): Promise<string> {
  const folder = join(inject('templatesFolder'), name);
  if (existsSync(folder)) return folder;
  const draft = await mkdtemp(`${folder}-`);
  await prepare(draft);
  await rename(draft, folder).catch((error: unknown) => {
    // Another process may have prepared the same at the same time.
    if (!existsSync(folder)) throw error;
  });
  return folder;
}
