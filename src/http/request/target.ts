/** Where a request comes from, and which project it is for. */
import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';

/** Names the project if the path does not. A recording key needs no name, because it is bound to one project. */
export const PROJECT_HEADER = 'caller-stats-project';

/** In the answer to a recording request: when its key expires, if that is soon. */
export const EXPIRY_HEADER = 'caller-stats-key-expires';

/** A parameter of the request's path, percent-decoded. */
export function getParameter(request: FastifyRequest, name: string): string {
  return (request.params as Readonly<Record<string, string>>)[name] ?? '';
}

/** The `{projectId}` of the request's path, percent-decoded. */
export function getProjectId(request: FastifyRequest): string {
  return getParameter(request, 'projectId');
}

/**
 * The client's address for allowlists, rate limits and the audit log: the last address on the way that is not a trusted
 * proxy. If a proxy reports something that is not an address (a name, an address with a port), the proxy's own address
 * counts. An IPv4 address in IPv6 form (`::ffff:192.0.2.1`) is written as IPv4.
 */
export function getClientAddress({ ip, ips }: FastifyRequest): string {
  const address = isIP(ip) === 0 ? (ips?.at(-2) ?? ip) : ip;
  return address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '');
}
