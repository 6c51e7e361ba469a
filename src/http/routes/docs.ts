/** The documentation site at `/docs`, which `npm run build` builds from the folder `docs`. */
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { addFile, addFiles, CACHING, filesIn, requireBuilt } from '../files.js';
import type { BasePath } from '../request/base-path.js';
import { addResource } from '../resource.js';

/** `folder` is the output of VitePress: a file for each page, `assets/`, downloads in `files/`, and compressed copies. */
export async function addDocs(app: FastifyInstance, folder: string, basePath: BasePath): Promise<void> {
  await requireBuilt(folder, 'pages of the documentation');
  const built = { folder, change: basePath === '' ? undefined : (text: string) => below(basePath, text) };
  // Relative, because a proxy may serve this server below another path.
  addResource(app, '/docs', {
    GET: (_request, reply) => reply.redirect('docs/', 308),
  });
  addFile(app, '/docs/', { ...built, file: 'index.html', caching: CACHING.page });
  const pages = (await filesIn(folder)).filter((file) => /^(?!index|404)[\w-]+\.html$/.test(file));
  addFiles(app, '/docs/:page', {
    ...built,
    files: new Map(pages.map((file) => [file.replace(/\.html$/, ''), file])),
    parameter: 'page',
    missing: 'There is no such page; /docs/ has all of them.',
    caching: CACHING.page,
  });
  for (const [below, caching] of [
    ['assets', CACHING.asset],
    ['files', CACHING.page],
  ] as const) {
    const files = await filesIn(join(folder, below), { recursive: true });
    addFiles(app, `/docs/${below}/*`, {
      ...built,
      files: new Map(files.map((file) => [file, `${below}/${file}`])),
      parameter: '*',
      missing: 'There is no such file; load the page again.',
      caching,
    });
  }
}

/** Adds the base path to links, which the site is built with as `/docs/…`. */
function below(basePath: BasePath, text: string): string {
  return text.replaceAll(/(?<=["'`(=])\/docs\//g, `${basePath}/docs/`);
}
