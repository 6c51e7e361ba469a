/** Receivers of messages on this machine: an HTTP server and an SMTP server. */
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';
import { whenOver } from '../cleanup.js';
import { startHttpServer } from '../http-server.js';

/** The networks of this machine, for servers under test. */
export const loopback = ['127.0.0.0/8', '::1'];

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Collects requests, and answers each with `204`, or as `answer` does. */
export async function startReceiver(
  answer: (response: ServerResponse) => void = (response) => response.writeHead(204).end(),
): Promise<{ readonly url: string; readonly received: Received[] }> {
  const received: Received[] = [];
  const url = await startHttpServer((request, response) => {
    void text(request).then((body) => {
      received.push({ path: request.url ?? '', headers: request.headers, body });
      answer(response);
    });
  });
  return { url, received };
}

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly source: string;
}

/** Collects mails. With `refuses`, answers each with a temporary failure that names the receiver; with `held`, none before that resolves. */
export async function startMailServer({
  refuses = false,
  held = Promise.resolve(),
}: {
  readonly refuses?: boolean;
  readonly held?: Promise<void>;
} = {}): Promise<{
  readonly url: string;
  readonly received: ReceivedMail[];
}> {
  const received: ReceivedMail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData: (stream, { envelope }, done) => {
      void Promise.all([text(stream), held]).then(([source]) => {
        if (refuses) {
          const to = envelope.rcptTo.map(({ address }) => `<${address}>`).join();
          done(Object.assign(new Error(`try again later: ${to}`), { responseCode: 451 }));
          return;
        }
        const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
        received.push({ from, to: envelope.rcptTo.map(({ address }) => address), source });
        done();
      });
    },
  });
  // A client that gives up closes its connection.
  server.on('error', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  whenOver(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const { port } = server.server.address() as AddressInfo;
  return { url: `smtp://127.0.0.1:${port}`, received };
}
