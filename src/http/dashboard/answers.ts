import type { FastifyReply } from 'fastify';

/** `204`: done, and there is nothing to say. */
export function nothing(reply: FastifyReply): FastifyReply {
  return reply.code(204).send();
}

/** `201` with what was made. */
export function created(reply: FastifyReply, made: object): FastifyReply {
  return reply.code(201).send(made);
}
