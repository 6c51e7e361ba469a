/** The dashboard's pages: one HTML file that shows whatever the path says, and the files that it loads. */
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { addFile, addFiles, CACHING, filesIn, requireBuilt } from '../files.js';
import type { BasePath } from '../request/base-path.js';

/** Every path that the pages know; any other is no route, and answered in JSON. */
const PATHS = [
  '/',
  '/sign-in',
  '/set-up',
  '/join',
  '/reset',
  '/new-project',
  '/projects/*',
  '/members',
  '/audit',
  '/account',
];

/** `folder` has what Vite built: `index.html` and other files, `assets/`, and each file compressed beside it. */
export async function addPages(app: FastifyInstance, folder: string, basePath: BasePath): Promise<void> {
  await requireBuilt(folder, 'pages of the dashboard');
  const caching = CACHING.page;
  const change = basePath === '' ? undefined : (page: string) => below(basePath, page);
  for (const url of PATHS) addFile(app, url, { folder, file: 'index.html', caching, change });
  for (const file of await filesIn(folder)) {
    if (file !== 'index.html') addFile(app, `/${file}`, { folder, file, caching });
  }
  const assets = await filesIn(join(folder, 'assets'));
  addFiles(app, '/assets/:file', {
    folder,
    files: new Map(assets.map((file) => [file, `assets/${file}`])),
    parameter: 'file',
    missing: 'There is no such file; load the page again.',
    caching: CACHING.asset,
  });
}

/** The page as it is built has the host to itself; this is the same below a path, which it tells its scripts. */
function below(basePath: BasePath, page: string): string {
  return page
    .replaceAll(/\b(src|href)="\//g, `$1="${basePath}/`)
    .replace('<meta name="base-path" content=""', `<meta name="base-path" content="${basePath}"`);
}
