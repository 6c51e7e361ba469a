/** The dashboard's pages: one HTML file that shows whatever the path says, and the files that it loads. */
import { access, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { CallerStatsError } from '../../domain/errors.js';
import type { BasePath } from '../base-path.js';
import { HttpError } from '../errors.js';
import { addResource } from '../resource.js';

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

/** Nothing but what this server serves, and no script or style within a page. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const yearSeconds = 365 * 24 * 60 * 60;

/** What a browser may do with a file: ask each time whether it is still the same, or keep it. */
const CACHING = {
  page: 'no-cache',
  /** Their names change with what is in them. */
  asset: `public, max-age=${yearSeconds}, immutable`,
} as const;

/** `folder` has what Vite built: `index.html` and other files, `assets/`, and each file compressed beside it. */
export async function addPages(app: FastifyInstance, folder: string, basePath: BasePath): Promise<void> {
  await requirePages(folder);
  await app.register(fastifyStatic, { root: folder, serve: false, preCompressed: true, cacheControl: false });
  const moved = basePath === '' ? undefined : await pageBelow(basePath, folder);
  for (const url of PATHS) {
    if (moved === undefined) addFile(app, url, 'index.html', CACHING.page);
    else addPage(app, url, moved);
  }
  // What is there now and nothing else: no path of a request is ever looked for on the disk.
  for (const file of await filesIn(folder)) {
    if (file !== 'index.html') addFile(app, `/${file}`, file, CACHING.page);
  }
  const assets = new Set(await filesIn(join(folder, 'assets')));
  addResource(app, '/assets/:file', {
    onRequest: async ({ params }) => {
      if (!assets.has(fileOf(params)))
        throw new HttpError(404, 'There is no such file; load the page again.');
    },
    GET: {
      schema: { hide: true },
      handler: ({ params }, reply) => send(reply, `assets/${fileOf(params)}`, CACHING.asset),
    },
  });
}

function fileOf(params: unknown): string {
  return (params as { file: string }).file;
}

function addFile(app: FastifyInstance, url: string, file: string, caching: string): void {
  addResource(app, url, {
    GET: { schema: { hide: true }, handler: (_request, reply) => send(reply, file, caching) },
  });
}

/** The page as it is built has the host to itself; this is the same below a path, which it tells its scripts. */
async function pageBelow(basePath: BasePath, folder: string): Promise<string> {
  const page = await readFile(join(folder, 'index.html'), 'utf8');
  return page
    .replaceAll(/\b(src|href)="\//g, `$1="${basePath}/`)
    .replace('<meta name="base-path" content=""', `<meta name="base-path" content="${basePath}"`);
}

function addPage(app: FastifyInstance, url: string, page: string): void {
  addResource(app, url, {
    GET: {
      schema: { hide: true },
      handler: (_request, reply) =>
        reply.headers(headersOf(CACHING.page)).type('text/html; charset=utf-8').send(page),
    },
  });
}

function send(reply: FastifyReply, file: string, caching: string): FastifyReply {
  return reply.headers(headersOf(caching)).sendFile(file);
}

function headersOf(caching: string): Readonly<Record<string, string>> {
  return { 'cache-control': caching, 'content-security-policy': PAGE_POLICY };
}

async function requirePages(folder: string): Promise<void> {
  try {
    await access(join(folder, 'index.html'));
  } catch (error) {
    const message = `${folder} has no pages of the dashboard; make them with: npm run build`;
    throw new CallerStatsError('unavailable', message, { cause: error });
  }
}

/** The names of the files in a folder, without those compressed beside them. */
async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries.filter((entry) => entry.isFile() && !/\.(br|gz)$/.test(entry.name)).map(({ name }) => name);
}
