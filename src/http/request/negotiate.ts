import type { FastifyReply, FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';

/** RFC 7111 and RFC 4180 name the parameter. */
const CSV = 'text/csv; charset=utf-8; header=present';
const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * Responds with CSV if the request's `Accept` prefers it (RFC 9110, section 12.5.1), otherwise with JSON. JSON also if it
 * accepts neither, as section 12.4.1 allows: a response in another format is more useful than an error.
 */
export function answerAsAccepted<T>(
  request: FastifyRequest,
  reply: FastifyReply,
  value: T,
  toCsv: (value: T) => string,
): FastifyReply {
  const type = new Negotiator(request.raw).mediaType([JSON_TYPE, CSV]);
  reply.header('vary', 'Accept');
  return type === CSV ? reply.type(CSV).send(toCsv(value)) : reply.send(value);
}
