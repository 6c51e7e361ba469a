/** The documentation site at `/docs`, which `npm run build` builds from the folder `docs`. */
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { BasePath } from '../request/base-path.js';
import { addFile, addFiles, addMissingPage, CACHING, filesIn, requireBuilt } from '../server/files.js';
import { addResource } from '../server/resource.js';

/** The address for which the site is built. */
const BUILT_FOR = 'http://127.0.0.1:4000';

interface Address {
  readonly basePath: BasePath;
  /** The public URL of the server, without the base path. */
  readonly publicUrl: string | undefined;
}

/**
 * `folder` is the output of VitePress: each page as HTML and as Markdown, texts for programs, `assets/`, downloads in
 * `files/`, and compressed copies.
 */
export async function addDocs(app: FastifyInstance, folder: string, address: Address): Promise<void> {
  await requireBuilt(folder, 'pages of the documentation');
  const { basePath, publicUrl } = address;
  const withBasePath = basePath === '' ? undefined : (text: string) => addBasePath(basePath, text);
  const change =
    publicUrl === undefined && withBasePath === undefined
      ? undefined
      : (text: string) => addAddress(address, text);
  const page = { folder, change, caching: CACHING.page };
  // Relative, because a proxy may serve this server below another path.
  addResource(app, '/docs', { GET: (_request, reply) => reply.redirect('docs/', 308) });
  addFile(app, '/docs/', 'index.html', page);
  const pages = filesIn(folder).filter((file) => /^(?!index\.html|404)[\w-]+\.(html|md|txt|xml)$/.test(file));
  const pagesByName = new Map(pages.map((file) => [file.replace(/\.html$/, ''), file]));
  const noPage = 'There is no such page; /docs/ has all of them.';
  const missingPage = '404.html';
  addFiles(app, '/docs/:page', { parameter: 'page', files: pagesByName, missing: noPage, missingPage }, page);
  // As links to folders are written. The page that tries the API is the dashboard's.
  const withoutSlash = new Set([...pagesByName.keys(), 'try']);
  app.addHook('onRequest', (request, reply, done) => {
    const name = request.is404 ? /^\/docs\/([\w-]+)\/$/.exec(request.url)?.[1] : undefined;
    if (name !== undefined && withoutSlash.has(name)) reply.redirect(`../${name}`, 308);
    else done();
  });
  addMissingPage(app, '/docs/', missingPage, page);
  for (const [subfolder, caching] of [
    ['assets', CACHING.asset],
    ['files', CACHING.page],
  ] as const) {
    const names = filesIn(join(folder, subfolder), { recursive: true });
    const files = new Map(names.map((file) => [file, `${subfolder}/${file}`]));
    const missing = 'There is no such file; load the page again.';
    addFiles(
      app,
      `/docs/${subfolder}/*`,
      { parameter: '*', files, missing },
      { folder, change: withBasePath, caching },
    );
  }
}

/** Makes the addresses of a text those of this server. */
function addAddress({ basePath, publicUrl = BUILT_FOR }: Address, text: string): string {
  const here = text.replaceAll(`${BUILT_FOR}/docs/`, `${publicUrl}${basePath}/docs/`);
  return basePath === '' ? here : addBasePath(basePath, here);
}

/** Adds the base path to links, which the site is built with as `/docs/…`. */
function addBasePath(basePath: BasePath, text: string): string {
  return text.replaceAll(/(?<=["'`(=])\/docs\//g, `${basePath}/docs/`);
}
