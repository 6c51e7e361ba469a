import { type FastifyBaseLogger, type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import type { Logger } from 'pino';
import { KEY_TYPES } from '../../domain/keys/api-key.js';

/** The part of a key after its type, in any spelling of a URL, complete or truncated. */
const HIDDEN = new RegExp(`(?<=(?:${KEY_TYPES.join('|')})_)[0-9a-z]{5,}`, 'gi');

/** The token in the address of a share link, also of a part of it. */
const SHARED = /(?<=\/shared?\/)[0-9a-z]{5,}/gi;

/** Any other secret of the server, wherever it stands in an address: secrets are longer than this, and names are not. */
const LONG = /[\w-]{32,}/g;

/** The e-mail address of a person, as paths of members have it. It begins where nothing of it is before, or this would be slow. */
const PERSON = /(?<![^/?&=#\s])[^/?&=#\s]+@[^/?&=#\s]+/g;

/** The code and state in the address to which a single sign-on provider sends a person back. */
const RETURNED = /(?<=[?&](?:code|state)=)[^&]{5,}/gi;

/**
 * The log for the framework. Its own messages, such as one for each request, are for debugging only: proxies write access
 * logs, and the program logs its address itself.
 */
export function frameworkLog(log: Logger): FastifyBaseLogger {
  const quiet = log.child({}, { serializers: { req: loggedRequest } });
  quiet.info = quiet.debug;
  return quiet;
}

/**
 * The fields of a request in the log: no client address and no headers, because one of them holds the key. A key that was
 * sent in the URL by mistake is masked, each token, the code of single sign-on, and addresses of people.
 */
function loggedRequest(request: FastifyRequest): Readonly<Record<string, string>> {
  const { method, raw } = request;
  return { method: raw.sentMethod ?? method, url: withoutKeys(request.url) };
}

/**
 * The text with its keys and tokens masked: only a few characters of each remain; of an e-mail address, none. If it has any, they are
 * spelled plainly.
 */
export function withoutKeys(text: string): string {
  const mask = (hidden: string) => `${hidden.slice(0, 4)}…`;
  const plain = spellPlainly(text);
  const masked = [HIDDEN, SHARED, RETURNED, LONG].reduce(
    (one, secret) => one.replaceAll(secret, mask),
    plain.replaceAll(PERSON, '…@…'),
  );
  return masked === plain ? text : masked;
}

/** Each time that a key is percent-encoded letter by letter, it gets three times as long: more often does not fit into a URL. */
const encodingsMax = 6;

/** With letters, digits and signs that are percent-encoded, also again and again. */
function spellPlainly(text: string): string {
  let plain = text;
  for (let time = 0, before = ''; time < encodingsMax && plain !== before; time++) {
    before = plain;
    plain = before.replaceAll(/%(?:25)*([2-7][\da-f])/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
  }
  return plain;
}

/** Logs the beginning and end of each request with its id, because all requests share one logger. */
export class RequestLog extends LogController {
  override incomingRequest(request: FastifyRequest): void {
    if (!this.isLogDisabled(request))
      request.log.debug({ reqId: request.id, req: request }, 'incoming request');
  }

  override requestCompleted(
    err: Error | null | undefined,
    request: FastifyRequest,
    reply: FastifyReply,
  ): void {
    if (this.isLogDisabled(request)) return;
    const { key, userId } = request;
    const about = {
      reqId: request.id,
      res: reply,
      responseTime: reply.elapsedTime,
      ...(key !== null && { keyId: key.id, keyName: key.name }),
      ...(userId !== null && { userId }),
    };
    if (err) reply.log.error({ ...about, err }, 'request errored');
    else reply.log.debug(about, 'request completed');
  }
}
