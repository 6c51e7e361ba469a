import type { FastifyReply, FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';

/** RFC 7111 and RFC 4180 name the parameter. */
const CSV = 'text/csv; charset=utf-8; header=present';
const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * Answers with the value as JSON, or as CSV where the request's `Accept` prefers that (RFC 9110, section 12.5.1). JSON
 * also where it takes neither, as section 12.4.1 allows: an answer that was not asked for says more than none.
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
