/** Serves the static files that were built with the program. */
import { ReadStream, readdirSync } from 'node:fs';
import { access, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';
import { CallerStatsError } from '../../domain/errors.js';
import { dayMs, secondMs } from '../../domain/time/duration.js';
import { loopShare } from '../../shared/fair-share.js';
import { getParameter } from '../request/target.js';
import { HttpError } from './errors.js';
import { addResource } from './resource.js';

/** Only files from this server, and no inline scripts or styles. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
];

/** The headers of pages. They allow no other window's access. */
const PAGE_HEADERS = {
  'content-security-policy': [...PAGE_POLICY, "frame-ancestors 'none'"].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': ['camera', 'display-capture', 'geolocation', 'microphone', 'payment', 'usb']
    .map((feature) => `${feature}=()`)
    .join(', '),
} as const;

/** `Cache-Control`: revalidate pages each time, and keep assets. */
export const CACHING = {
  page: 'no-cache',
  /** The names of assets change with their content. */
  asset: `public, max-age=${(365 * dayMs) / secondMs}, immutable`,
} as const;

/** How files of a folder are served. */
export interface Serving {
  readonly folder: string;
  /** The value of `Cache-Control`. */
  readonly caching: string;
  /** Changes each text file before it is sent. */
  readonly change?: ((text: string) => string) | undefined;
}

const HTML = 'text/html; charset=utf-8';

/** Media types of text files, by extension. */
const TEXTS: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': HTML,
  '.js': 'text/javascript; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.xml': 'application/xml; charset=utf-8',
};

/** Serves a file at one path. `@fastify/static` must be registered. */
export function addFile(app: FastifyInstance, url: string, file: string, serving: Serving): void {
  const texts = createTexts(serving);
  addResource(app, url, { GET: (_request, reply) => sendFile(reply, file, serving, texts) });
}

/**
 * Serves files by the value of the path's `parameter`. Values that are not in `files` get 404 with the message `missing`,
 * or, in a browser's window, with the page `missingPage`. The path of a request is never used as a file name.
 */
export function addFiles(
  app: FastifyInstance,
  url: string,
  {
    parameter,
    files,
    missing,
    missingPage,
  }: { parameter: string; files: ReadonlyMap<string, string>; missing: string; missingPage?: string },
  serving: Serving,
): void {
  const findFile = (request: FastifyRequest) => files.get(getParameter(request, parameter));
  const texts = createTexts(serving);
  addResource(app, url, {
    onRequest: async (request, reply) => {
      if (findFile(request) !== undefined) return;
      if (missingPage === undefined || !asksForPage(request)) throw new HttpError(404, missing);
      await sendMissingPage(reply, missingPage, texts);
    },
    GET: (request, reply) => sendFile(reply, findFile(request) ?? '', serving, texts),
  });
}

/** Serves a page with 404 at all paths that begin with `prefix` and have no route, to requests that ask for a page. */
export function addMissingPage(app: FastifyInstance, prefix: string, file: string, serving: Serving): void {
  const texts = createTexts(serving);
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.is404 || !request.url.startsWith(prefix) || !asksForPage(request)) return done();
    return sendMissingPage(reply, file, texts);
  });
}

/** Sends a page that pages of these origins may embed. */
export function sendPage(
  reply: FastifyReply,
  html: string | Buffer,
  { status, origins }: { readonly status: number; readonly origins: readonly string[] },
): FastifyReply {
  reply.code(status).headers(PAGE_HEADERS).type(HTML);
  if (origins.length > 0) {
    const policy = [...PAGE_POLICY, `frame-ancestors ${origins.join(' ')}`].join('; ');
    // The older header cannot name origins.
    reply.header('content-security-policy', policy).removeHeader('x-frame-options');
  }
  return reply.send(html);
}

/** Whether a browser loads this in a window: its `Accept` names HTML and prefers it. Programs get errors in JSON. */
export function asksForPage(request: FastifyRequest): boolean {
  if (request.method !== 'GET' && request.method !== 'HEAD') return false;
  // The library takes any number for a weight: a range for all types, with one above 1, would be asking for a page.
  if (!/text\/html/i.test(request.headers.accept ?? '')) return false;
  return new Negotiator(request.raw).mediaType(['application/json', 'text/html']) === 'text/html';
}

/** Sends the whole page, whatever ranges and tags the request has: they are about what is at the path. */
async function sendMissingPage(reply: FastifyReply, file: string, texts: Texts): Promise<void> {
  await sendPage(reply, await texts(file), { status: 404, origins: [] });
}

async function sendFile(
  reply: FastifyReply,
  file: string,
  { folder, caching, change }: Serving,
  texts: Texts,
): Promise<FastifyReply> {
  reply.headers({ 'cache-control': caching, ...PAGE_HEADERS });
  const type = TEXTS[extname(file)];
  if (change === undefined || type === undefined) return reply.sendFile(file, folder);
  return reply.type(type).send(await texts(file));
}

/** The text of a file as it is sent. */
type Texts = (file: string) => Promise<Buffer>;

/** Reads and changes each text once. */
function createTexts({ folder, change = (text) => text }: Serving): Texts {
  const known = new Map<string, Buffer>();
  return async (file) => {
    const text = known.get(file) ?? Buffer.from(change(await readFile(join(folder, file), 'utf8')));
    known.set(file, text);
    return text;
  };
}

/**
 * Sends files from memory, in turns as requests begin, so that recordings keep their share: reading one for each request took most of
 * its time, and none of it in its turn. Call it before the routes are added.
 */
export function sendFilesFromMemory(
  app: FastifyInstance,
  turn: () => Promise<void> | undefined = () => loopShare.begin(),
): void {
  const known = new Map<string, Buffer>();
  async function read(path: string, tag: string): Promise<Buffer> {
    // A file that is replaced has another tag.
    const key = `${path} ${tag}`;
    const bytes = known.get(key) ?? (await readFile(path));
    known.set(key, bytes);
    await turn();
    return bytes;
  }
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (!(payload instanceof ReadStream)) return done(null, payload);
    // Its types lack the part that the request asks for.
    const {
      path,
      start = 0,
      end = 0,
    }: ReadStream & { readonly start?: number; readonly end?: number } = payload;
    // It may be gone by now. Then it cannot be read below, either.
    payload.once('error', () => {}).destroy();
    return read(String(path), String(reply.getHeader('etag'))).then((bytes) =>
      bytes.subarray(start, end + 1),
    );
  });
}

/** Throws if a folder was not built. `what` names its content in the message. */
export async function requireBuilt(folder: string, what: string): Promise<void> {
  try {
    await access(join(folder, 'index.html'));
  } catch (error) {
    const message = `${folder} has no ${what}; make them with: npm run build`;
    throw new CallerStatsError('unavailable', message, { cause: error });
  }
}

/**
 * The names of the files in a folder, without compressed copies; with `recursive` also those below it, as `folder/name`.
 * Synchronous, because only the start needs it, and takes less time so.
 */
export function filesIn(folder: string, { recursive = false } = {}): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.isFile()) return /\.(br|gz)$/.test(entry.name) ? [] : [entry.name];
    if (!recursive || !entry.isDirectory()) return [];
    return filesIn(join(folder, entry.name), { recursive }).map((name) => `${entry.name}/${name}`);
  });
}
