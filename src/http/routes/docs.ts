/** The documentation site at `/docs`, which `npm run build` builds from the folder `docs`. */
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { addFile, addFiles, addMissingPage, CACHING, filesIn, requireBuilt } from '../files.js';
import type { BasePath } from '../request/base-path.js';
import { addResource } from '../resource.js';

/** `folder` is the output of VitePress: a file for each page, `assets/`, downloads in `files/`, and compressed copies. */
export async function addDocs(app: FastifyInstance, folder: string, basePath: BasePath): Promise<void> {
  await requireBuilt(folder, 'pages of the documentation');
  const change = basePath === '' ? undefined : (text: string) => addBasePath(basePath, text);
  const page = { folder, change, caching: CACHING.page };
  // Relative, because a proxy may serve this server below another path.
  addResource(app, '/docs', { GET: (_request, reply) => reply.redirect('docs/', 308) });
  addFile(app, '/docs/', 'index.html', page);
  const pages = (await filesIn(folder)).filter((file) => /^(?!index|404)[\w-]+\.html$/.test(file));
  const pagesByName = new Map(pages.map((file) => [file.replace(/\.html$/, ''), file]));
  const noPage = 'There is no such page; /docs/ has all of them.';
  const missingPage = '404.html';
  addFiles(app, '/docs/:page', { parameter: 'page', files: pagesByName, missing: noPage, missingPage }, page);
  addMissingPage(app, '/docs/', missingPage, page);
  for (const [subfolder, caching] of [
    ['assets', CACHING.asset],
    ['files', CACHING.page],
  ] as const) {
    const names = await filesIn(join(folder, subfolder), { recursive: true });
    const files = new Map(names.map((file) => [file, `${subfolder}/${file}`]));
    const missing = 'There is no such file; load the page again.';
    addFiles(app, `/docs/${subfolder}/*`, { parameter: '*', files, missing }, { ...page, caching });
  }
}

/** Adds the base path to links, which the site is built with as `/docs/…`. */
function addBasePath(basePath: BasePath, text: string): string {
  return text.replaceAll(/(?<=["'`(=])\/docs\//g, `${basePath}/docs/`);
}
