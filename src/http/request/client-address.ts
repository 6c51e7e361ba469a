import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';

/**
 * Where a request comes from, as allowlists, limits and the audit log go by it: the last address on its way that is no
 * trusted proxy. A proxy that names what is no address (a name, a port behind it) stands for what it did not name. An
 * IPv4 address that came as IPv6 (`::ffff:192.0.2.1`) is written as IPv4.
 */
export function addressOf({ ip, ips }: FastifyRequest): string {
  const address = isIP(ip) === 0 ? (ips?.at(-2) ?? ip) : ip;
  return address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '');
}
