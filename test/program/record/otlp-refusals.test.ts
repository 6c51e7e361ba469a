import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { errorOf, type KeyName, sharedService } from '../../support/http/http.js';
import { JSON_TYPE, PROTOBUF } from '../../support/http/telemetry.js';

const PATHS = ['/v1/traces', '/v1/logs', '/v1/metrics'];

describe.each(PATHS)('%s rejects', (path) => {
  const service = sharedService({ limits: { bodyBytesMax: 1000 } });
  const json = { 'content-type': JSON_TYPE };
  const large = Buffer.alloc(1001, ' ');
  const NO_KEY = /^There is no API key; .*: if you sent a key, a redirect has left it out; send it to /;
  const LARGE =
    /^The body has more than 1000 bytes once decoded; send fewer .+ at a time \(OTEL_BSP_MAX_EXPORT_BATCH_SIZE\), or let a Collector/;
  const TYPE = 'The Content-Type is not supported; send application/x-protobuf or application/json.';
  // Newer versions of Node also have zstd.
  const ENCODING =
    /^The Content-Encoding is not supported; send gzip, deflate,( zstd,)? or none\. In the exporter of a Collector, set compression: gzip\.$/;
  const NOT_GZIP = 'The body is not valid gzip, though its Content-Encoding says so.';
  const unsaid = (encoding: string) =>
    `The body is compressed with ${encoding}, but its headers do not say so; send Content-Encoding: ${encoding}.`;
  // A frame that, as protobuf, is a message without anything.
  const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x24, 0, 1, 0, 0, 0x99, 0xe9, 0xd8, 0x51]);
  const ZSTD_UNSAID =
    /^The body is compressed with zstd, (but its headers do not say so|which this path does not take); send /;
  const TWICE = 'The body is compressed twice; compress it once.';
  const ZIP = 'The body is a zip archive, but its Content-Type says application/json; send that.';
  const SECOND =
    'The body is not JSON of OTLP: it has a second message after 8 bytes; send each with a request, or the file with caller-stats import --format otlp.';
  const NAME =
    'An admin key opens every project of its organization: name one in the header caller-stats-project, or send a recording key.';
  const project = (id: string) => ({ 'caller-stats-project': id });
  const NO_PROJECT = 'There is no such project.';

  test.each<
    [
      what: string,
      key: KeyName | null,
      headers: Record<string, string>,
      body: Uint8Array,
      status: number,
      error: string | RegExp,
      method?: string,
    ]
  >([
    ['no key', null, {}, large, 401, NO_KEY],
    ['an unknown key', 'unknown', {}, large, 401, 'The API key is unknown.'],
    ['a revoked key', 'revoked', {}, large, 401, 'The API key is revoked.'],
    ['an admin key and no project', 'admin', json, large, 400, NAME],
    ['an admin key, no project, and a wrong method', 'admin', {}, large, 400, NAME, 'GET'],
    ['an unknown project', 'admin', project('nowhere'), large, 404, NO_PROJECT],
    ['an empty project', 'admin', project(''), large, 404, NO_PROJECT],
    ["another organization's project", 'admin', project('rival-docs'), large, 404, NO_PROJECT],
    ["another project's recording key", 'recordingBlog', project('docs'), large, 404, NO_PROJECT],
    ['a wrong method', 'recording', {}, large, 405, 'This path takes no PUT; it takes POST.', 'PUT'],
    ['a missing type', 'recording', {}, Buffer.from('{}'), 415, TYPE],
    ['a missing type and body', 'recording', {}, Buffer.alloc(0), 415, TYPE],
    ['another type', 'recording', { 'content-type': 'application/x-ndjson' }, large, 415, TYPE],
    ['another encoding', 'recording', { ...json, 'content-encoding': 'br' }, large, 415, ENCODING],
    ['a large body', 'recording', json, large, 413, LARGE],
    [
      'a body that is large after decompression',
      'recording',
      { 'content-type': PROTOBUF, 'content-encoding': 'gzip' },
      gzipSync(large),
      413,
      LARGE,
    ],
    ['invalid gzip', 'recording', { ...json, 'content-encoding': 'gzip' }, Buffer.from('{}'), 400, NOT_GZIP],
    ['invalid JSON', 'recording', json, Buffer.from('{'), 400, 'The body is not JSON: "{".'],
    ['gzip without its encoding', 'recording', json, gzipSync('{}'), 400, unsaid('gzip')],
    ['gzip as protobuf', 'recording', { 'content-type': PROTOBUF }, gzipSync(''), 400, unsaid('gzip')],
    ['zstd without its encoding', 'recording', { 'content-type': PROTOBUF }, ZSTD, 400, ZSTD_UNSAID],
    [
      'gzip twice',
      'recording',
      { ...json, 'content-encoding': 'gzip' },
      gzipSync(gzipSync('{}')),
      400,
      TWICE,
    ],
    ['a zip archive', 'recording', json, Buffer.from('PK\x03\x04'), 400, ZIP],
    ['messages on lines', 'recording', json, Buffer.from('{"a":1}\n{}'), 400, SECOND],
  ])('%s', async (_what, key, headers, body, status, error, method = 'POST') => {
    const { send, keys, store } = service();
    const answer = await send({ method, path, key: key === null ? null : keys[key], headers, body });
    expect([answer.status, errorOf(answer)]).toEqual([
      status,
      typeof error === 'string' ? error : expect.stringMatching(error),
    ]);
    expect((await store.maintenance.verify()).queries).toBe(0);
  });

  test('an admin key without the scope write', async () => {
    const { send, addKey } = service();
    const key = await addKey(`reads ${path}`, { type: 'admin', scopes: ['read'] });
    const headers = { ...json, 'caller-stats-project': 'nowhere' };
    const answer = await send({ method: 'POST', path, key, headers, body: '{}' });
    expect([answer.status, errorOf(answer)]).toEqual([
      403,
      'This needs an API key with the scope write; the one sent has read.',
    ]);
  });

  test('a query parameter', async () => {
    const { send, keys } = service();
    const answer = await send({
      method: 'POST',
      path: `${path}?a=1`,
      key: keys.recording,
      headers: json,
      body: '{}',
    });
    expect(answer.status).toBe(400);
  });
});
