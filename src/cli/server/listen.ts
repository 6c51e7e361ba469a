import type { FastifyInstance } from 'fastify';
import { CallerStatsError } from '../../domain/errors.js';

/** An address to listen on, and the flags that set it. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
  readonly hostFlag: string;
  readonly portFlag: string;
}

/** Starts to listen and returns the port. */
export async function listen(app: FastifyInstance, address: ListenAddress): Promise<number> {
  const { host, port } = address;
  await app.listen({ host, port }).catch((cause: NodeJS.ErrnoException) => {
    const problem = listenProblem(cause, address);
    throw new CallerStatsError('unavailable', `${host}:${port} ${problem}`, { cause });
  });
  const bound = app.server.address();
  return typeof bound === 'object' && bound !== null ? bound.port : port;
}

/** A URL that a browser on this machine can open. */
export function localUrl(host: string, port: number): string {
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

/** Continues a sentence that begins with the address. */
export function listenProblem(
  { code, message }: NodeJS.ErrnoException,
  { hostFlag, portFlag }: ListenAddress,
): string {
  if (code === 'EADDRINUSE') return `is in use by another program; choose another with --${portFlag}.`;
  if (code === 'EACCES')
    return `may not be used by this user; choose a port from 1024 up with --${portFlag}.`;
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return `is not an address of this machine; choose one with --${hostFlag}.`;
  return `cannot be used: ${message}`;
}
