/** Decodes and parses request bodies: content encodings and media types. */
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { FastifyInstance, FastifyRequest, preParsingHookHandler } from 'fastify';
import { findKind } from '../../app/import/file/kinds.js';
import {
  inflationsMax,
  itemBytesMax,
  itemPartsMax,
  jsonPartBytes,
  lineBytesMax,
  queryPartsMax,
  smallPartsMax,
} from '../../domain/limits.js';
import {
  excessOf,
  type JsonBounds,
  nonBlankLines,
  parseJson,
  parseJsonInSteps,
} from '../../domain/queries/lines.js';
import { nextLoopTurn } from '../../shared/fair-share.js';
import { finishWithPauses, Pauses } from '../../shared/pauses.js';
import { Slots } from '../../shared/slots.js';
import type { Admission } from '../admission/admission.js';
import { HttpError } from '../server/errors.js';

const inflate = promisify(gunzip);

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What messages call the items of a body: queries, unless the route says otherwise. */
    readonly items?: string;
  }
}

/** Replaces an NDJSON line that is not JSON, so that the error message can contain its index. */
export class MalformedLine {
  readonly problem: string;

  constructor(problem: string) {
    this.problem = problem;
  }
}

/** A `preParsing` hook. Throws 415 for a Content-Encoding other than gzip, before the body is read. */
export const refuseUnknownEncoding: preParsingHookHandler = (request, _reply, payload, done) => {
  if (getEncoding(request) === undefined) throw unsupportedEncoding('gzip, or none', 'gzip');
  done(null, payload);
};

/** A `preParsing` hook for paths that support no Content-Encoding. */
export const refuseEncoding: preParsingHookHandler = (request, _reply, payload, done) => {
  if (getEncoding(request) !== 'identity') throw unsupportedEncoding('none', 'identity');
  done(null, payload);
};

function unsupportedEncoding(supported: string, acceptEncoding: string): HttpError {
  return new HttpError(415, `The Content-Encoding is not supported; send ${supported}.`, {
    'accept-encoding': acceptEncoding,
  });
}

/** Adds a parser for JSON bodies that do not record. Larger ones get 413. */
export function addJsonParser(app: FastifyInstance, bytesMax: number, partsMax = smallPartsMax): void {
  addParser(app, 'application/json', bytesMax, (body, request) => {
    refuseOtherKind(body, request, []);
    return parseBody(body, { partsMax });
  });
}

/** Limits of one recording request. */
export interface RecordingLimits {
  readonly batchQueriesMax: number;
  /** Bytes of the body before and after decoding. */
  readonly bodyBytesMax: number;
}

/** Adds parsers for JSON (any value) and NDJSON (an array of the lines' values), which may also be sent as JSON. Bodies above the limits get 413. */
export function addRecordingParsers(
  app: FastifyInstance,
  { batchQueriesMax, bodyBytesMax }: RecordingLimits,
  admission: Admission,
): void {
  const decode = createDecoder(bodyBytesMax, admission);
  const partsMax = Math.max(itemPartsMax, batchQueriesMax * queryPartsMax);
  /** Bodies of fewer bytes than one item may have parts take little. */
  const boundsOf = (request: FastifyRequest, { length }: Buffer): JsonBounds => ({
    partsMax,
    itemPartsMax,
    itemBytesMax,
    ...(length > itemPartsMax && {
      onParts: (parts: number) => admission.count(request, parts * jsonPartBytes),
    }),
  });
  const parseLines = async (body: Buffer, request: FastifyRequest) => {
    const values: unknown[] = [];
    let parts = 0;
    const onParts = (more: number) => {
      parts += more;
      if (parts > partsMax) throw new HttpError(400, `The body ${excessOf(partsMax)}.`);
      admission.count(request, more * jsonPartBytes);
    };
    const pauses = new Pauses(bytesInTurn, () => admission.turn());
    for (const line of nonBlankLines(body)) {
      if (line === undefined) {
        await admission.turn();
        continue;
      }
      const value = parseLine(line, onParts);
      values.push(Array.isArray(value) ? new MalformedLine(ARRAY_LINE) : value);
      // After each line, because there could be millions of them.
      requireAtMost(batchQueriesMax, values, request);
      await pauses.take(line.length + lineOverheadBytes);
    }
    return values;
  };
  addParser(app, 'application/json', bodyBytesMax, async (body, request) => {
    const decoded = await decode(body, request);
    // Log shippers send NDJSON with this type, and one line of it is JSON.
    if (decoded.includes('\n') && (await isSeveralLines(decoded))) return parseLines(decoded, request);
    const value = await parseBody(decoded, boundsOf(request, decoded));
    if (Array.isArray(value)) requireAtMost(batchQueriesMax, value, request);
    return value;
  });
  addParser(app, NDJSON_TYPES, bodyBytesMax, async (body, request) =>
    parseLines(await decode(body, request), request),
  );
}

const ARRAY_LINE = 'is an array; put each of its items on a line, or send one array as application/json';

/** One format has several names, of which none is registered. */
const NDJSON_TYPES = ['x-ndjson', 'ndjson', 'jsonl', 'x-jsonlines'].map((name) => `application/${name}`);

/** Whether a body is NDJSON with at least two lines. JSON whose first line is a whole object has no other line. */
async function isSeveralLines(body: Buffer): Promise<boolean> {
  let first: Uint8Array | undefined;
  let isSecond = false;
  for (const line of nonBlankLines(body)) {
    if (line === undefined) await nextLoopTurn();
    else if (first === undefined) first = line;
    else {
      isSecond = true;
      break;
    }
  }
  if (first === undefined || !isSecond) return false;
  const value = parseLine(first);
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof MalformedLine)
  );
}

function addParser(
  app: FastifyInstance,
  type: string | string[],
  bodyLimit: number,
  parse: (body: Buffer, request: FastifyRequest) => Promise<unknown>,
): void {
  app.addContentTypeParser(type, { parseAs: 'buffer', bodyLimit }, (request: FastifyRequest, body: Buffer) =>
    parse(body, request),
  );
}

/** Enough to tell what a body is, and too little for what a message of protobuf could have by chance. */
const kindBytes = 16;

/** Whether it begins as an object or an array of JSON does. None of the kinds that `findKind` knows begins like that. */
function isJson(body: Buffer): boolean {
  return body[0] === 0x7b || body[0] === 0x5b;
}

type Headed = Pick<FastifyRequest, 'headers'>;

/** Throws 400 for a decoded body that is not what its headers say. `encodings` are those that its path decodes. */
function refuseOtherKind(body: Buffer, request: Headed, encodings: readonly string[]): void {
  const kind = isJson(body) ? undefined : findKind(body.subarray(0, kindBytes));
  if (kind === undefined) return;
  const { what, encoding } = kind;
  const type = request.headers['content-type'];
  let problem = `is ${what}, but its Content-Type says ${type}; send that`;
  if (encoding !== undefined && encodingOf(request) !== 'identity')
    problem = 'is compressed twice; compress it once';
  else if (encoding !== undefined && encodings.includes(encoding))
    problem = `is ${what}, but its headers do not say so; send Content-Encoding: ${encoding}`;
  else if (encoding !== undefined) {
    const others = encodings.length === 0 ? '' : ` or with Content-Encoding: ${encodings.join(', ')}`;
    problem = `is ${what}, which this path does not take; send it uncompressed${others}`;
  }
  throw new HttpError(400, `The body ${problem}.`);
}

/** As `refuseOtherKind`, for a body that arrives in pieces, which are passed on. */
export async function* refuseOtherKinds(
  pieces: AsyncIterable<Buffer>,
  request: Headed,
  encodings: readonly string[],
): AsyncGenerator<Buffer> {
  let start: Buffer | undefined = Buffer.alloc(0);
  for await (const piece of pieces) {
    if (start === undefined) yield piece;
    else {
      start = Buffer.concat([start, piece]);
      if (start.length < kindBytes) continue;
      refuseOtherKind(start, request, encodings);
      yield start;
      start = undefined;
    }
  }
  if (start === undefined || start.length === 0) return;
  refuseOtherKind(start, request, encodings);
  yield start;
}

/** Throws 415 for a media type that OTLP does not have. */
export function refuseOtlpType(): never {
  throw new HttpError(
    415,
    'The Content-Type is not supported; send application/x-protobuf or application/json.',
  );
}

/** The value of a JSON body. Throws 400 for invalid JSON. */
async function parseBody(body: Buffer, bounds: JsonBounds): Promise<unknown> {
  const json = await finishWithPauses(parseJsonInSteps(body, bounds), new Pauses(1, nextLoopTurn));
  if (!json.ok) throw new HttpError(400, `The body ${json.problems.join('; ')}.`);
  return json.value;
}

/** Parsing so many bytes of lines takes a millisecond, or two. */
const bytesInTurn = 64 * 1024;

/** An empty line takes as long as so many bytes. */
const lineOverheadBytes = 100;

/** Does not parse lines that are longer than any query: a few such lines would take seconds. */
function parseLine(line: Uint8Array, onParts?: (parts: number) => void): unknown {
  if (line.length > lineBytesMax) return new MalformedLine(`is longer than ${lineBytesMax} bytes`);
  const value = parseJson(line, { partsMax: itemPartsMax, ...(onParts && { onParts }) });
  return value.ok ? value.value : new MalformedLine(value.problems.join('; '));
}

function requireAtMost(itemsMax: number, values: readonly unknown[], request: FastifyRequest): void {
  if (values.length > itemsMax) {
    throw new HttpError(413, `The body has more than ${itemsMax} ${itemsIn(request)}; send fewer at a time.`);
  }
}

function itemsIn({ routeOptions }: FastifyRequest): string {
  return routeOptions.config.items ?? 'queries';
}

/** The name of the Content-Encoding. RFC 9110, section 8.4.1.3: `x-gzip` is another name for `gzip`. */
export function encodingOf({ headers }: Headed): string {
  const name = (headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  return name === 'x-gzip' ? 'gzip' : name;
}

function getEncoding(request: FastifyRequest): 'gzip' | 'identity' | undefined {
  const encoding = encodingOf(request);
  return encoding === 'gzip' || encoding === 'identity' ? encoding : undefined;
}

/** Bodies are counted once they are decompressed, so only a few are decompressed at a time. */
const inflations = new Slots(inflationsMax);

function createDecoder(bytesMax: number, admission: Admission) {
  return async (body: Buffer, request: FastifyRequest): Promise<Buffer> => {
    const decoded =
      getEncoding(request) === 'gzip' ? await inflations.run(() => unpack(body, bytesMax, request)) : body;
    refuseOtherKind(decoded, request, ['gzip']);
    if (decoded !== body) admission.count(request, decoded.length);
    // Parsing blocks the event loop.
    await admission.turn(decoded.length);
    return decoded;
  };
}

async function unpack(body: Buffer, bytesMax: number, request: FastifyRequest): Promise<Buffer> {
  try {
    return await inflate(body, { maxOutputLength: bytesMax });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
      throw new HttpError(
        413,
        `The body has more than ${bytesMax} bytes once decoded; send fewer ${itemsIn(request)} at a time.`,
      );
    }
    throw new HttpError(400, 'The body is not valid gzip, though its Content-Encoding says so.');
  }
}
