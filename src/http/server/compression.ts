/** Compresses responses for clients that ask for it. Static files have compressed copies instead. */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';
import { compressedCharactersMin } from '../../domain/limits.js';
import { nextTurn } from '../../shared/pauses.js';

const compress = promisify(gzip);

/** Counts, documents and metrics. */
const COMPRESSIBLE = /^(application\/json|text\/)/;

/** As fast as the lowest level, and a fifth smaller; the default takes twice as long to save another tenth. */
const level = 4;

/** RFC 9110, section 8.4.1.3: the second is another name for the first. */
const CODINGS = ['gzip', 'x-gzip'] as const;

/**
 * Compresses whole texts on the threads of zlib. What is made while it is read, such as an export, stays as it is. Only answers to GET
 * and HEAD: others show new secrets, and a compressed answer tells by its length what it has in common with the request.
 */
export function addCompression(app: FastifyInstance, turn: () => Promise<void> = nextTurn): void {
  const compressOnce = createCompressor(turn);
  app.addHook('onSend', (request, reply, payload, done) => {
    const isWhole = typeof payload === 'string' || Buffer.isBuffer(payload);
    if (!isWhole || payload.length < compressedCharactersMin) return done(null, payload);
    if (request.method !== 'GET' && request.method !== 'HEAD') return done(null, payload);
    if (!COMPRESSIBLE.test(String(reply.getHeader('content-type')))) return done(null, payload);
    const vary = reply.getHeader('vary');
    reply.header('vary', vary === undefined ? 'Accept-Encoding' : `${String(vary)}, Accept-Encoding`);
    const coding = preferredCoding(request);
    if (coding === undefined) return done(null, payload);
    reply.header('content-encoding', coding);
    return compressOnce(payload);
  });
}

/** The result compresses what it is given in a turn of its own. */
function createCompressor(turn: () => Promise<void>): (payload: string | Buffer) => Promise<Buffer> {
  /** Some bytes are sent again and again, such as the OpenAPI document. Texts are made for one answer. */
  const known = new WeakMap<Buffer, Buffer>();
  return async (payload) => {
    const before = typeof payload === 'string' ? undefined : known.get(payload);
    if (before !== undefined) return before;
    await turn();
    const compressed = await compress(payload, { level });
    if (typeof payload !== 'string') known.set(payload, compressed);
    return compressed;
  };
}

function preferredCoding({ raw }: FastifyRequest): string | undefined {
  // Without the header, every coding would be as good as any other.
  if (raw.headers['accept-encoding'] === undefined) return undefined;
  const coding = new Negotiator(raw).encoding([...CODINGS, 'identity']);
  return CODINGS.find((one) => one === coding);
}
