import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { whenOver } from './cleanup.js';

/** Starts an HTTP server on a free port, which is stopped after the test; not for concurrent ones. Returns its URL. */
export async function startHttpServer(onRequest: RequestListener = () => {}): Promise<string> {
  const server = createServer(onRequest);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  whenOver(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
