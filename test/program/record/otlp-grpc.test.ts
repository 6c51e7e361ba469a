/** OTLP over gRPC, on the port of HTTP. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { deflateSync, gzipSync } from 'node:zlib';
import { ProtobufLogsSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ALL_TIME } from '../../../src/domain/counting/date-range.js';
import { CallerStatsError } from '../../../src/domain/errors.js';
import { headerBytesMax } from '../../../src/domain/limits.js';
import {
  call,
  connectGrpc,
  framed,
  LOGS_METHOD,
  METRICS_METHOD,
  PREFACE,
  TRACES_METHOD,
} from '../../support/http/grpc.js';
import {
  type KeyName,
  type Service,
  type ServiceOptions,
  sharedService,
  startMs,
  startService,
} from '../../support/http/http.js';
import { holdCalls } from '../../support/http/http-store.js';
import { ASKED, bodyOf, PROTOBUF, type Sent, traceId } from '../../support/http/telemetry.js';

const query = (number: number, attributes: Sent['attributes'] = {}): Sent => ({
  traceId: traceId(number),
  timeNs: BigInt(startMs) * 1_000_000n,
  attributes: { ...ASKED, ...attributes },
});

const bearer = ({ keys }: Service, key: KeyName = 'recording') => ({ authorization: `Bearer ${keys[key]}` });
const spans = (...sent: readonly Sent[]) => bodyOf('traces', PROTOBUF, sent);
const counted = async ({ store }: Service) => (await store.counts.count('docs', ALL_TIME)).total;

async function sessionTo(service: Service) {
  return connectGrpc(await service.origin());
}

describe('refuses', () => {
  const shared = sharedService({ limits: { bodyBytesMax: 10_000 } });
  const one = framed(spans(query(1)));
  const large = Buffer.alloc(10_001);
  const INVALID = 3;
  const UNIMPLEMENTED = 12;

  test.each<
    [
      what: string,
      headers: (service: Service) => Record<string, string>,
      pieces: readonly Uint8Array[],
      code: number,
      message: string | RegExp,
      path?: string,
    ]
  >([
    ['no key', () => ({}), [one], 16, /^There is no API key; send it as "Authorization: Bearer <key>"\.$/],
    ['a revoked key', (service) => bearer(service, 'revoked'), [one], 16, 'The API key is revoked.'],
    [
      'an admin key without a project',
      (service) => bearer(service, 'admin'),
      [one],
      INVALID,
      /caller-stats-project/,
    ],
    [
      'an unknown project',
      (service) => ({ ...bearer(service, 'admin'), 'caller-stats-project': 'nowhere' }),
      [one],
      5,
      'There is no such project.',
    ],
    ['an unknown method', bearer, [one], UNIMPLEMENTED, /^There is no such method; .*TraceService/, '/a.B/C'],
    ['no message', bearer, [], INVALID, 'The call has no message.'],
    ['part of a frame', bearer, [one.subarray(0, 4)], INVALID, 'The call has no message.'],
    ['part of a message', bearer, [one.subarray(0, -1)], INVALID, /ended too early|is not/],
    ['two messages', bearer, [one, one], INVALID, /more than one message/],
    ['a message that is not protobuf', bearer, [framed(Buffer.from('{}'))], INVALID, /^The body is not/],
    ['an announced large message', bearer, [framed(large)], INVALID, /^The body has more than 10000 bytes/],
    [
      'a message that is large after decompression',
      (service) => ({ ...bearer(service), 'grpc-encoding': 'gzip' }),
      [framed(gzipSync(large), true)],
      INVALID,
      /^The body has more than 10000 bytes/,
    ],
    [
      'another encoding',
      (service) => ({ ...bearer(service), 'grpc-encoding': 'snappy' }),
      [framed(one, true)],
      UNIMPLEMENTED,
      /^The Content-Encoding is not supported; send gzip, deflate/,
    ],
    [
      'compression without its name',
      bearer,
      [framed(one, true)],
      UNIMPLEMENTED,
      /^The Content-Encoding is not/,
    ],
  ])('%s', async (_what, headers, pieces, code, message, path = TRACES_METHOD) => {
    const service = shared();
    const session = await sessionTo(service);
    const answer = await call(session, path, headers(service), ...pieces);
    expect(answer).toMatchObject({ httpStatus: 200, code, body: Buffer.alloc(0) });
    expect(answer.message).toEqual(typeof message === 'string' ? message : expect.stringMatching(message));
    expect(answer.headers).toMatchObject({ 'content-type': 'application/grpc' });
    expect(answer.headers['grpc-accept-encoding']).toMatch(/^gzip,deflate/);
    expect(await counted(service)).toBe(0);
    // The connection goes on.
    expect(await call(session, METRICS_METHOD, bearer(service), framed(Buffer.alloc(0)))).toMatchObject({
      code: 0,
    });
  });

  test.each([
    [
      'other requests of HTTP/2',
      { 'content-type': PROTOBUF },
      415,
      'HTTP/2 without TLS is for calls of gRPC (application/grpc) here; send other requests as HTTP/1.1.',
    ],
    [
      'large headers',
      { x: 'x'.repeat(headerBytesMax) },
      431,
      'The URL and headers together are too large; they may have 16384 bytes.',
    ],
  ])('%s, with the sentence that helps', async (_what, headers, httpStatus, error) => {
    const session = await sessionTo(shared());
    const answer = await call(session, TRACES_METHOD, headers, one);
    expect(answer).toMatchObject({ httpStatus, code: undefined });
    expect(JSON.parse(answer.body.toString())).toEqual({ error });
  });
});

test('has the security headers of every other answer, accepted or not', async () => {
  const service = await startService({ users: { publicUrl: 'https://stats.example.org' } });
  // The last ones are refused before they become requests.
  for (const headers of [
    bearer(service),
    {},
    { 'content-type': 'text/html' },
    { x: 'x'.repeat(headerBytesMax) },
  ]) {
    const answer = await call(await sessionTo(service), TRACES_METHOD, headers, framed(spans(query(1))));
    expect(answer.headers).toMatchObject({
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'strict-transport-security': 'max-age=31536000; includeSubDomains',
      'x-content-type-options': 'nosniff',
    });
  }
});

describe('asks to try again', () => {
  const retryInfo = Buffer.from('type.googleapis.com/google.rpc.RetryInfo');
  const exportOne = async (service: Service) =>
    call(await sessionTo(service), TRACES_METHOD, bearer(service), framed(spans(query(1))));

  test.each<[what: string, options: ServiceOptions, prepare: (service: Service) => unknown, code: number]>([
    [
      'a store that cannot be reached',
      {},
      ({ watched }) => {
        watched.before = async (method) => {
          if (method === 'record') throw new CallerStatsError('unavailable', 'gone');
        };
      },
      14,
    ],
    ['load', {}, ({ eventLoop }) => Object.assign(eventLoop, { delayMs: 600_000 }), 14],
    ['a rate limit', { limits: { requestsPerMinute: 1 } }, exportOne, 8],
  ])('after %s', async (_what, options, prepare, code) => {
    const service = await startService(options);
    await prepare(service);
    const answer = await exportOne(service);
    expect(answer.code).toBe(code);
    expect(answer.message).not.toBe('');
    expect(answer.details.includes(retryInfo)).toBe(true);
  });
});

describe('records', () => {
  test.each([
    ['plainly', {}, (body: Uint8Array) => framed(body)],
    [
      'although compression was only announced',
      { 'grpc-encoding': 'gzip' },
      (body: Uint8Array) => framed(body),
    ],
    ['gzip', { 'grpc-encoding': 'gzip' }, (body: Uint8Array) => framed(gzipSync(body), true)],
    ['deflate', { 'grpc-encoding': 'deflate' }, (body: Uint8Array) => framed(deflateSync(body), true)],
  ])('%s, once each', async (_what, headers, frame) => {
    const service = await startService({ basePath: '/stats' });
    const session = await sessionTo(service);
    const many = Array.from({ length: 500 }, (_, n) => query(4096 + n, { prompt: 'x'.repeat(500) }));
    const bytes = frame(spans(...many));
    // In pieces that part the frame.
    const pieces = [bytes.subarray(0, 3), bytes.subarray(3, 7), bytes.subarray(7)];
    for (const _ of [1, 2]) {
      const answer = await call(session, TRACES_METHOD, { ...bearer(service), ...headers }, ...pieces);
      expect(answer).toMatchObject({ code: 0, body: Buffer.alloc(0) });
    }
    expect(await counted(service)).toBe(500);
  });

  test.each([
    ['traces', TRACES_METHOD, ProtobufTraceSerializer, 'rejectedSpans'],
    ['logs', LOGS_METHOD, ProtobufLogsSerializer, 'rejectedLogRecords'],
  ] as const)('%s, and names those that are invalid', async (signal, method, serializer, rejected) => {
    const service = await startService();
    const sent = [query(1), query(2, { 'caller_stats.caller': 'Not a name' })];
    const headers = { ...bearer(service, 'admin'), 'caller-stats-project': 'docs' };
    const answer = await call(
      await sessionTo(service),
      method,
      headers,
      framed(bodyOf(signal, PROTOBUF, sent)),
    );
    expect(answer.code).toBe(0);
    expect(serializer.deserializeResponse(answer.body).partialSuccess).toMatchObject({
      [rejected]: 1,
      errorMessage: expect.stringMatching(/^Not recorded: .*caller: is not/),
    });
    expect(await counted(service)).toBe(1);
  });

  test('many calls at a time on one connection, beside HTTP/1.1', async () => {
    const service = await startService();
    const session = await sessionTo(service);
    // As clients of gRPC do: they then know how many calls they may send at a time.
    await once(session, 'remoteSettings');
    const numbers = Array.from({ length: 50 }, (_, n) => n);
    const answers = await Promise.all(
      numbers.map((n) => call(session, TRACES_METHOD, bearer(service), framed(spans(query(4096 + n))))),
    );
    expect(new Set(answers.map(({ code }) => code))).toEqual(new Set([0]));
    await service.record({ id: 'a', caller: 'web' });
    expect(await counted(service)).toBe(51);
  });
});

test('Sources names the services of calls, and the reason of those that were refused', async () => {
  const service = await startService();
  const session = await sessionTo(service);
  const resource = { 'service.name': 'bot' };
  await call(session, TRACES_METHOD, bearer(service), framed(spans({ ...query(1), resource })));
  await call(
    session,
    TRACES_METHOD,
    { ...bearer(service), 'grpc-encoding': 'lz4' },
    framed(Buffer.alloc(1), true),
  );
  const { text } = await service.send({ path: '/v1/analytics/docs/assistant/ingestion' });
  const { sources } = JSON.parse(text) as { readonly sources: readonly object[] };
  expect(sources).toContainEqual(
    expect.objectContaining({
      ...{ kind: 'traces', name: 'bot', refusals: [] },
      lastHour: expect.objectContaining({ requests: 1, arrived: 1, recorded: 1 }),
    }),
  );
  expect(text).toContain('"reason":"media-type"');
});

test('a call whose message does not arrive is answered in the end, and the connection goes on', async () => {
  const service = await startService({ limits: { requestTimeoutMs: 200, answerTimeoutMs: 200 } });
  const session = await sessionTo(service);
  const stream = session.request({
    ...{ ':method': 'POST', ':path': TRACES_METHOD, 'content-type': 'application/grpc' },
    ...bearer(service),
  });
  stream.write(Buffer.alloc(1));
  const [trailers] = (await once(stream.resume(), 'trailers')) as [Record<string, unknown>];
  expect(trailers['grpc-status']).toBe('14');
  const answer = await call(session, TRACES_METHOD, bearer(service), framed(spans(query(1))));
  expect(answer.code).toBe(0);
});

test('a connection whose first bytes arrive one by one', async () => {
  const service = await startService();
  const socket = connect(Number(new URL(await service.origin()).port), '127.0.0.1').setNoDelay();
  onTestFinished(() => void socket.destroy());
  const settings = [0, 0, 0, 4, 0, 0, 0, 0, 0];
  for (const byte of [...PREFACE, ...settings]) {
    socket.write(Buffer.of(byte));
    await setImmediate();
  }
  const [answer] = (await once(socket, 'data')) as [Buffer];
  expect(answer[3]).toBe(settings[3]);
});

test('a server that stops answers accepted calls, and takes no others', async () => {
  const service = await startService();
  const session = await sessionTo(service);
  const held = holdCalls(service, 'record');
  const answer = call(session, TRACES_METHOD, bearer(service), framed(spans(query(1))));
  await held.reached();
  const goingAway = once(session, 'goaway');
  const closed = service.close();
  await goingAway;
  await expect(call(session, TRACES_METHOD, bearer(service), framed(spans(query(2))))).rejects.toThrow();
  held.release();
  expect(await answer).toMatchObject({ code: 0 });
  await closed;
  expect(await counted(service)).toBe(1);
});
