import { type FastifyReply, type FastifyRequest, LogController } from 'fastify';

/** What comes behind the type of a key, in any spelling of a URL, whole or cut. */
const HIDDEN = /(?<=(?:admin|recording)(?:_|%5f))[0-9a-z]{5,}/gi;

/**
 * What the log says of a request. No headers: a key stands in one. Whoever sends it somewhere else by mistake, in the
 * URL for one, does not find it in the log either: no more is left of it than a list of keys shows.
 */
export function loggedRequest({ method, url, host, ip }: FastifyRequest): Readonly<Record<string, string>> {
  return { method, url: withoutKeys(url), host: withoutKeys(host), remoteAddress: withoutKeys(ip) };
}

/** The text with no more left of each key than a list of keys shows. */
export function withoutKeys(text: string): string {
  return text.replaceAll(HIDDEN, (hidden) => `${hidden.slice(0, 4)}…`);
}

/** Logs where each request begins and ends, under its id: one logger is for all of them. */
export class RequestLog extends LogController {
  override incomingRequest(request: FastifyRequest): void {
    if (this.isLogDisabled(request)) return;
    request.log.info({ reqId: request.id, req: request }, 'incoming request');
  }

  override requestCompleted(
    err: Error | null | undefined,
    request: FastifyRequest,
    reply: FastifyReply,
  ): void {
    if (this.isLogDisabled(request)) return;
    const about = { reqId: request.id, res: reply, responseTime: reply.elapsedTime };
    if (err) reply.log.error({ ...about, err }, 'request errored');
    else reply.log.info(about, 'request completed');
  }
}
