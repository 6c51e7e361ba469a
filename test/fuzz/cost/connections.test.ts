/** Connections that open and end at once do not hold the event loop, nor does what V8 does when it frees them. */
import { expect, onTestFinished, test } from 'vitest';
import { programFile } from '../../support/cli/process.js';
import { http2Frame, PREFACE, TRACES_METHOD } from '../../support/http/grpc.js';
import { MeasuredServer } from './measured-server.js';
import { turnMsMaxAt } from './search.js';

/** The best of these counts: other work of the machine makes single attempts longer. */
const attempts = 5;

function field(name: string, value: string): Buffer {
  const text = (one: string) => [Buffer.from([one.length]), Buffer.from(one)];
  return Buffer.concat([Buffer.from([0]), ...text(name), ...text(value)]);
}

/** The bytes of a connection with ten calls that wait for their messages. */
function tenCalls(): Buffer {
  const head = Buffer.concat([
    field(':method', 'POST'),
    field(':scheme', 'http'),
    field(':path', TRACES_METHOD),
    field('content-type', 'application/grpc'),
  ]);
  const calls = Array.from({ length: 10 }, (_, at) => http2Frame(1, head, { flags: 4, stream: 2 * at + 1 }));
  return Buffer.concat([PREFACE, http2Frame(4), ...calls]);
}

test.each([
  ['1,000 connections of gRPC with calls', 1000, tenCalls()],
  ['2,000 connections of HTTP/1 with a request', 2000, Buffer.from('GET /livez HTTP/1.1\r\n\r\n')],
])(
  '%s',
  async (_what, count, bytes) => {
    const server = await MeasuredServer.start(programFile);
    onTestFinished(() => server.remove());
    await server.measureConnections(100, bytes);
    const times: number[] = [];
    let loadMs = Number.POSITIVE_INFINITY;
    for (let attempt = 0; attempt < attempts; attempt++) {
      loadMs = Math.min(loadMs, await server.load());
      const longestMs = await server.measureConnections(count, bytes);
      times.push(Math.round(longestMs));
      if (longestMs <= turnMsMaxAt(loadMs)) return;
    }
    expect(times, 'The event loop was held for too long each time, in ms.').toEqual([]);
  },
  300_000,
);
