/** The recorder against real connections: a proxy that takes only small bodies, and says so or just closes the connection. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { createRecorder } from '../../../clients/javascript/src/recorder.js';
import { startHttpServer } from '../../support/http-server.js';

const bodyBytesMax = 2000;
const queries = 2000;

test.each([
  [
    'answers 413 without reading the body',
    (response: ServerResponse) => response.writeHead(413, { connection: 'close' }).end('<h1>Too large</h1>'),
  ],
  ['closes the connection', (response: ServerResponse) => response.req.socket.resetAndDestroy()],
])('if the proxy %s, every query arrives in smaller batches', async (_, refuse) => {
  const ids = new Set<string>();
  const record = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await buffer(request);
    const text = request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
    const before = ids.size;
    const batch = JSON.parse(text.toString()) as { id: string }[];
    for (const { id } of batch) ids.add(id);
    const recorded = ids.size - before;
    response.end(JSON.stringify({ recorded, duplicates: batch.length - recorded }));
  };
  const url = await startHttpServer((request, response) => {
    if (Number(request.headers['content-length']) > bodyBytesMax) refuse(response);
    else void record(request, response);
  });
  const recorder = createRecorder({ url, projectId: 'docs', key: 'key', retryBaseMs: 1, retryMaxMs: 1 });
  // Random ids hardly compress.
  for (let at = 0; at < queries; at++) recorder.record({ id: crypto.randomUUID(), caller: 'web' });
  expect(await recorder.close({ timeoutMs: 60_000 })).toBe(true);
  expect(ids.size).toBe(queries);
  expect(recorder.stats).toMatchObject({ queued: 0, dropped: 0, recorded: queries });
  expect(recorder.stats.failures).toBeGreaterThan(0);
});
