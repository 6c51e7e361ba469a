/** Load shedding: tracks the work in progress and refuses more than the server can take with 503. */
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { Transform } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest, RequestPayload } from 'fastify';
import {
  hasRoomFor,
  type Load,
  type LoadLimits,
  type RequestKind,
  refusalReason,
  TOO_MANY_ANSWERS,
  TOO_MANY_BYTES,
} from '../../domain/admission.js';
import { CallerStatsError } from '../../domain/errors.js';
import { connectionsMax, largeAnswerBytesMin } from '../../domain/limits.js';
import type { Clock } from '../../domain/time/clock.js';
import { loopShare, probeShare, recordings, refusalShare } from '../../shared/fair-share.js';
import { createThrottledWarning } from '../../shared/throttled-log.js';
import { onFinished } from '../connection/connections.js';
import { HttpError, LoadSheddingError } from '../server/errors.js';
import { PacedQueue, RECORDING_PACE, REFUSAL_PACE } from './paced-queue.js';

export const PROBES: readonly string[] = ['/livez', '/readyz'];
const RECORDING: readonly string[] = [
  '/v1/analytics/:projectId/assistant/queries',
  '/v1/analytics/:projectId/assistant/imported-counts',
  '/v1/traces',
  '/v1/logs',
  '/v1/metrics',
];

const VISITED = /^\/(api\/shared|share)\//;

/** Bodies up to this size are counted by their Content-Length: a thousand of them are 64 megabytes. */
const smallBodyBytesMax = 64 * 1024;

/** While the server records, it refuses one request for every four recordings (see `REFUSAL_PACE`). */
const refusalsPerRecording = 1 / 4;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route counts what it keeps of a body in memory. */
    readonly isReadInPieces?: boolean;
    /** What the bodies of a route that does not record count as, if they may be large. */
    readonly bodyCountsAs?: 'correctionsBytes';
  }
  interface FastifyRequest {
    work: RequestKind;
    /** What it counts as, until it is finished. */
    countedAs: 'recordings' | 'requests' | undefined;
    /** The bytes counted for a request with a large body. Undefined until its body is read, and once it is finished. */
    bodyBytes: number | undefined;
  }
}

/** One for each app. */
export class Admission {
  readonly #limits: LoadLimits;
  readonly #eventLoopDelayMs: () => number;
  readonly #warn: ReturnType<typeof createThrottledWarning>;
  readonly #turns = new PacedQueue(RECORDING_PACE);
  readonly #refusals = new PacedQueue(REFUSAL_PACE);
  /** One object, because a new one for each request took 3% of an export. */
  readonly #load = {
    recordings: 0,
    recordingBytes: 0,
    correctionsBytes: 0,
    requests: 0,
    unreadBytes: 0,
    eventLoopDelayMs: 0,
  };

  /** `eventLoopDelayMs` returns the mean delay of the event loop in the last interval. */
  constructor(limits: LoadLimits, clock: Clock, eventLoopDelayMs: () => number) {
    this.#limits = limits;
    this.#eventLoopDelayMs = eventLoopDelayMs;
    this.#warn = createThrottledWarning(clock);
  }

  get load(): Load {
    this.#load.eventLoopDelayMs = this.#eventLoopDelayMs();
    return this.#load;
  }

  /**
   * Admits or refuses every request before any work is done for it. Call it before the routes are added.
   *
   * The hooks return a promise only if there is something to wait for, because promises cost as much as the checks.
   */
  watch(app: FastifyInstance): void {
    app.decorateRequest('work', 'reading');
    app.decorateRequest('countedAs', undefined).decorateRequest('bodyBytes', undefined);
    app.addHook('onRequest', (request, reply, done) => {
      request.work = classify(request);
      if (request.work === 'probe') return done();
      const refusal = refusalReason(request.work, this.load, this.#limits);
      if (refusal !== undefined) return this.#refuse(request, refusal);
      this.#take(request, reply);
      return done();
    });
    app.addHook('preParsing', (request, reply, payload, done) => {
      // The client may be gone by now.
      if (request.countedAs !== undefined) request.bodyBytes = 0;
      const { isReadInPieces } = request.routeOptions.config;
      if (isReadInPieces || bytesOf(request) === undefined) return done(null, payload);
      const announced = Number(request.headers['content-length'] ?? Number.NaN);
      // Large bodies are counted as they arrive, so that a stalled request costs no more than it has sent.
      if (!(announced <= smallBodyBytesMax)) return done(null, this.#counted(request, reply, payload));
      this.count(request, announced);
      return done(null, payload);
    });
    app.addHook('onSend', (request, reply, payload, done) => {
      if (request.work === 'recording') {
        recordings.note();
        if (reply.statusCode < 500) return this.#turns.next();
      }
      if (isLarge(payload)) this.#keep(request, reply, payload.length);
      return done(null, payload);
    });
    app.addHook('onError', (request, _reply, error, done) => {
      const turn = this.#turnToFail(request, error);
      if (turn === undefined) done();
      else void turn.then(() => done());
    });
  }

  /** Undefined: at once. */
  #turnToFail(request: FastifyRequest, error: Error): Promise<void> | undefined {
    // A client that has gone is not refused.
    const isRefused = error instanceof CallerStatsError && error.code === 'busy' && !request.socket.destroyed;
    if (isRefused) this.#warnRefused(request);
    const isPaced = isRefused || (error instanceof HttpError && error.status === 429);
    if (request.work === 'visiting') return isPaced ? this.#refusals.next() : undefined;
    if (request.countedAs !== 'recordings' || request.bodyBytes !== undefined) return undefined;
    this.#release(request);
    return this.#turnToRefuse(request);
  }

  /** Lets requests that do not record wait for their turn. Call it after what refuses requests by their headers alone. */
  share(app: FastifyInstance): void {
    app.addHook('onRequest', ({ work }, _reply, done) => {
      const turn = this.#turnToBegin(work);
      if (turn === undefined) done();
      else void turn.then(() => done());
    });
  }

  /** Undefined: at once. */
  #turnToBegin(work: RequestKind): Promise<void> | undefined {
    if (work === 'recording') return undefined;
    return work === 'probe' ? probeShare.begin() : loopShare.begin(this.#load.requests);
  }

  /** Resolves when it is this recording's turn to have its bytes parsed. */
  turn(bytes = 0): Promise<void> {
    recordings.note();
    this.#refusals.credit(refusalsPerRecording);
    return this.#turns.next(bytes);
  }

  /** Counts more bytes for a recording or a correction in progress. Throws 503 above the limit. */
  count(request: FastifyRequest, bytes: number): void {
    // The connection is closed, and its bytes are no longer counted.
    if (request.bodyBytes === undefined) return;
    const counter = bytesOf(request);
    if (counter === undefined) throw new Error('the route does not say what its bodies count as');
    request.bodyBytes += bytes;
    this.#load[counter] += bytes;
    if (this.#load[counter] > this.#limits[`${counter}Max`]) throw this.#refusal(request, TOO_MANY_BYTES);
  }

  /** Counts a large answer until its client has read it. Throws 503 if there is no room for it. */
  #keep(request: FastifyRequest, reply: FastifyReply, bytes: number): void {
    const { work } = request;
    if (work !== 'visiting' && work !== 'reading') return;
    if (!hasRoomFor(bytes, work, this.#load, this.#limits)) {
      reply.removeHeader('content-encoding');
      throw this.#refusal(request, TOO_MANY_ANSWERS);
    }
    this.#load.unreadBytes += bytes;
    onFinished(request.raw, reply.raw, () => {
      this.#load.unreadBytes -= bytes;
    });
  }

  async #refuse(request: FastifyRequest, message: string): Promise<never> {
    await this.#turnToRefuse(request);
    throw this.#refusal(request, message);
  }

  /** The error for a request that is refused. Writes a throttled warning. */
  #refusal(request: FastifyRequest, message: string): LoadSheddingError {
    this.#warnRefused(request);
    return new LoadSheddingError(message);
  }

  #warnRefused({ log }: FastifyRequest): void {
    this.#warn(log, { load: this.load }, 'requests are refused: the server has too much to do');
  }

  #take(request: FastifyRequest, reply: FastifyReply): void {
    request.countedAs = request.work === 'recording' ? 'recordings' : 'requests';
    this.#load[request.countedAs]++;
    if (request.countedAs === 'recordings') recordings.arrive();
    onFinished(request.raw, reply.raw, () => {
      this.#endWork(request);
      const bytes = bytesOf(request);
      if (bytes !== undefined) this.#load[bytes] -= request.bodyBytes ?? 0;
      request.bodyBytes = undefined;
    });
  }

  /**
   * For a recording that is rejected before its body is read, as without a valid key: anybody may send it, so it takes neither the
   * time nor the place of those that are accepted.
   */
  #release(request: FastifyRequest): void {
    request.work = 'reading';
    this.#endWork(request);
  }

  #endWork(request: FastifyRequest): void {
    if (request.countedAs === undefined) return;
    this.#load[request.countedAs]--;
    if (request.countedAs === 'recordings') recordings.end();
    request.countedAs = undefined;
  }

  /** Refusing costs nearly as much as recording a single query. Undefined: at once. */
  #turnToRefuse({ socket, work }: FastifyRequest): Promise<void> | undefined {
    const queue = work === 'recording' ? this.#refusals : refusalShare;
    // A connection may send any number of requests ahead.
    if (queue.length >= connectionsMax) socket.destroy();
    return queue === refusalShare ? refusalShare.begin() : this.#refusals.next();
  }

  /** The body, counted as it arrives. */
  #counted(request: FastifyRequest, reply: FastifyReply, payload: RequestPayload): RequestPayload {
    const counter = Object.assign(
      new Transform({
        transform: (chunk: Buffer, _encoding, done) => {
          counter.receivedEncodedLength += chunk.length;
          try {
            this.count(request, chunk.length);
            done(null, chunk);
          } catch (error) {
            done(error as Error);
          }
        },
      }),
      // The framework compares this with the Content-Length.
      { receivedEncodedLength: 0 },
    );
    payload.once('error', (error: Error) => counter.destroy(error));
    // After an error the rest of the body is read and dropped: the sender may read the response only when it has sent all, and
    // the next request on the connection comes after the body. Node does this itself only for bodies that nobody has read.
    const passOver = () => payload.unpipe(counter).resume();
    counter.once('error', passOver);
    reply.raw.once('close', passOver);
    // Not before the framework reads: it may refuse the body by its headers, and the client may wait for `100 Continue`.
    counter.once('resume', () => payload.pipe(counter));
    return counter;
  }
}

function bytesOf({ work, routeOptions }: FastifyRequest): 'recordingBytes' | 'correctionsBytes' | undefined {
  return work === 'recording' ? 'recordingBytes' : routeOptions.config.bodyCountsAs;
}

function classify({ method, routeOptions: { url = '' } }: FastifyRequest): RequestKind {
  if (PROBES.includes(url)) return 'probe';
  if (VISITED.test(url)) return 'visiting';
  return method === 'POST' && RECORDING.includes(url) ? 'recording' : 'reading';
}

/** What is made while it is read never waits. */
function isLarge(payload: unknown): payload is string | Buffer {
  return (typeof payload === 'string' || Buffer.isBuffer(payload)) && payload.length > largeAnswerBytesMin;
}

const lookMs = 500;
const nanosecondsInMs = 1e6;

/** Measures the delay of the event loop until the app closes. The result is the mean of the last interval. */
export function watchEventLoop(app: FastifyInstance): () => number {
  const histogram: IntervalHistogram = monitorEventLoopDelay({ resolution: 20 });
  histogram.enable();
  let delayMs = 0;
  const looks = setInterval(() => {
    delayMs = histogram.count === 0 ? 0 : histogram.mean / nanosecondsInMs;
    histogram.reset();
  }, lookMs).unref();
  app.addHook('onClose', async () => {
    clearInterval(looks);
    histogram.disable();
  });
  return () => delayMs;
}
