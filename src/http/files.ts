/** Files that were built with the program and are served as they are: which there are, and how browsers may keep them. */
import { access, readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { CallerStatsError } from '../domain/errors.js';
import { dayMs, secondMs } from '../domain/time/duration.js';
import { HttpError } from './errors.js';
import { addResource } from './resource.js';

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

const yearSeconds = (365 * dayMs) / secondMs;

/** What a browser may do with a file: ask each time whether it is still the same, or keep it. */
export const CACHING = {
  page: 'no-cache',
  /** Their names change with what is in them. */
  asset: `public, max-age=${yearSeconds}, immutable`,
} as const;

/** What was built. */
export interface Built {
  readonly folder: string;
  /** What is made of each text before it is sent; it is sent as it is unless given. */
  readonly change?: ((text: string) => string) | undefined;
}

/** The types of texts that may be changed, by the ends of their files' names. */
const TEXTS: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
};

/** Serves a file of a folder at one path. `@fastify/static` must be registered. */
export function addFile(
  app: FastifyInstance,
  url: string,
  { file, caching, ...built }: Built & { readonly file: string; readonly caching: string },
): void {
  addResource(app, url, {
    GET: (_request, reply) => sendFile(reply, built, file, caching),
  });
}

/**
 * Serves those files of a folder that `files` has, by what stands for `parameter` in the path; `404` for all others, with
 * `missing` as its words. No path of a request is ever looked for on the disk.
 */
export function addFiles(
  app: FastifyInstance,
  url: string,
  {
    files,
    parameter,
    missing,
    caching,
    ...built
  }: Built & {
    readonly files: ReadonlyMap<string, string>;
    readonly parameter: string;
    readonly missing: string;
    readonly caching: string;
  },
): void {
  const findFile = (params: unknown) => files.get((params as Record<string, string>)[parameter] ?? '');
  addResource(app, url, {
    onRequest: async ({ params }) => {
      if (findFile(params) === undefined) throw new HttpError(404, missing);
    },
    GET: ({ params }, reply) => sendFile(reply, built, findFile(params) ?? '', caching),
  });
}

function sendFile(
  reply: FastifyReply,
  { folder, change }: Built,
  file: string,
  caching: string,
): FastifyReply | Promise<FastifyReply> {
  reply.headers({ 'cache-control': caching, 'content-security-policy': PAGE_POLICY });
  const type = TEXTS[extname(file)];
  if (change === undefined || type === undefined) return reply.sendFile(file, folder);
  return sendText(reply.type(type), join(folder, file), change);
}

async function sendText(
  reply: FastifyReply,
  path: string,
  change: (text: string) => string,
): Promise<FastifyReply> {
  return reply.send(change(await readFile(path, 'utf8')));
}

/** Throws where a folder was not built. `what` goes on from "has no". */
export async function requireBuilt(folder: string, what: string): Promise<void> {
  try {
    await access(join(folder, 'index.html'));
  } catch (error) {
    const message = `${folder} has no ${what}; make them with: npm run build`;
    throw new CallerStatsError('unavailable', message, { cause: error });
  }
}

/** The names of the files in a folder, without those compressed beside them; with folders below it on demand. */
export async function filesIn(folder: string, { recursive = false } = {}): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive });
  return entries
    .filter((entry) => entry.isFile() && !/\.(br|gz)$/.test(entry.name))
    .map(({ parentPath, name }) => join(parentPath, name).slice(join(folder, '/').length));
}
