/** A proxy between a node and its database that can lose a response of the database. */
import { connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export interface CuttingProxy {
  readonly port: number;
  /** Cuts the next connection that sends this text to the database, before the response. */
  readonly cutAnswerTo: (text: string) => void;
  /** The number of lost responses. */
  readonly cuts: () => number;
}

/** Listens on a free port and forwards everything to this one, until the test is over. */
export async function startCuttingProxy(port: number): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  let wanted: string | undefined;
  let cuts = 0;
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    let cutting = false;
    const both = [near, far];
    for (const socket of both) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        for (const one of both) one.destroy();
      });
    }
    near.on('data', (bytes) => {
      if (wanted !== undefined && bytes.includes(wanted)) {
        cutting = true;
        wanted = undefined;
      }
      far.write(bytes);
    });
    far.on('data', (bytes) => {
      if (!cutting) near.write(bytes);
      else {
        // The database has responded, so it has done the work.
        cuts++;
        near.destroy();
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the proxy has no port');
  return {
    port: address.port,
    cutAnswerTo: (text) => {
      wanted = text;
    },
    cuts: () => cuts,
  };
}
