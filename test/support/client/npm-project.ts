/** An empty project with ES modules, in which npm uses nothing from elsewhere: no registry, and no settings of the user. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '../temporary.js';

export async function emptyNpmProject() {
  const home = await temporaryFolder();
  const project = join(home, 'project');
  await mkdir(project);
  await writeFile(join(project, 'package.json'), JSON.stringify({ type: 'module', private: true }));
  const env = { HOME: home, npm_config_cache: join(home, 'cache'), npm_config_offline: 'true' };
  return { project, env };
}
