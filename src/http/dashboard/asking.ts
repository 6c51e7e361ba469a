import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Answered, Asking } from '../../auth/auth-provider.js';
import { ADDRESS_HEADER } from '../../auth/names.js';
import { addressOf } from '../request/client-address.js';

/** What of a request says who asks. The address is the one that limits and the audit log go by. */
export function askingOf(request: FastifyRequest): Asking {
  const headers = new Headers({ [ADDRESS_HEADER]: addressOf(request) });
  for (const name of ['cookie', 'user-agent'] as const) {
    const value = request.headers[name];
    if (value !== undefined) headers.set(name, value);
  }
  return { headers, secure: request.protocol === 'https' };
}

/** Tells the browser what to keep, beside the cookies that the answer sets already. */
export function setCookies(reply: FastifyReply, { cookies }: Answered): void {
  for (const cookie of cookies) reply.header('set-cookie', cookie);
}
