/** The dashboard's pages: one HTML file, which shows the page of its path, and the files that it loads. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { BasePath } from '../request/base-path.js';
import { addFile, addFiles, addMissingPage, CACHING, filesIn, requireBuilt } from '../server/files.js';

/** The paths of pages. All other paths show the page for 404. */
const PATHS = [
  '/',
  '/sign-in',
  '/set-up',
  '/join',
  '/reset',
  '/forgot',
  '/new-project',
  '/projects',
  '/projects/:id',
  '/projects/:id/keys',
  '/projects/:id/sources',
  '/projects/:id/corrections',
  '/projects/:id/settings',
  '/members',
  '/audit',
  '/account',
  '/connect',
];

/** The page that sends test requests. It does not depend on who is signed in. */
const TRY_PATH = '/docs/try';

const PAGES = 'pages of the dashboard';

/** `folder` is the output of Vite: `index.html` and other files, `assets/`, and a compressed copy of each file. */
export async function addPages(app: FastifyInstance, folder: string, basePath: BasePath): Promise<void> {
  await requireBuilt(folder, PAGES);
  const page = { folder, caching: CACHING.page };
  const change = basePath === '' ? undefined : (text: string) => addBasePath(basePath, text);
  for (const url of PATHS) addFile(app, url, 'index.html', { ...page, change });
  addFile(app, TRY_PATH, 'index.html', { ...page, change: (text) => omitSession(change?.(text) ?? text) });
  addMissingPage(app, '/', 'index.html', { ...page, change });
  for (const file of filesIn(folder)) {
    if (file !== 'index.html') addFile(app, `/${file}`, file, page);
  }
  const assets = filesIn(join(folder, 'assets'));
  const files = new Map(assets.map((file) => [file, `assets/${file}`]));
  const missing = 'There is no such file; load the page again.';
  addFiles(app, '/assets/:file', { parameter: 'file', files, missing }, { folder, caching: CACHING.asset });
}

/** The HTML file for a page whose address holds a secret: browsers send it nowhere, not even to this server. */
export async function readSecretPage(folder: string, basePath: BasePath): Promise<string> {
  await requireBuilt(folder, PAGES);
  const page = addBasePath(basePath, await readFile(join(folder, 'index.html'), 'utf8'));
  return omitSession(page).replace(
    '<meta name="referrer" content="same-origin"',
    '<meta name="referrer" content="no-referrer"',
  );
}

/** Omits the link that requests who is signed in before the scripts of the page do. */
function omitSession(page: string): string {
  return page.replace(/<link rel="preload"[^>]*>/, '');
}

/** Adds the base path to the page's links, and tells it to the page's scripts. */
function addBasePath(basePath: BasePath, page: string): string {
  return page
    .replaceAll(/\b(src|href)="\//g, `$1="${basePath}/`)
    .replace('<meta name="base-path" content=""', `<meta name="base-path" content="${basePath}"`);
}
