/** Webhooks as https://www.standardwebhooks.com describes them. */
import { Webhook } from 'standardwebhooks';
import type { Message } from '../../../domain/notifications/message.js';
import type { RandomInt } from '../../../domain/random-text.js';

/** As long as the specification suggests. */
const secretBytes = 32;

export function newWebhookSecret(randomInt: RandomInt): string {
  const bytes = Uint8Array.from({ length: secretBytes }, () => randomInt(256));
  return `whsec_${Buffer.from(bytes).toString('base64')}`;
}

/** The body of a webhook: the same text in every attempt. */
export function webhookBody({ type, timestamp, title, text, data }: Message): string {
  return JSON.stringify({ type, timestamp, data: { title, text, ...data } });
}

/** The headers by which a receiver recognizes the sender and a repeated message. */
export function signedHeaders(
  { id, secret, nowMs }: { readonly id: string; readonly secret: string; readonly nowMs: number },
  body: string,
): Readonly<Record<string, string>> {
  const at = new Date(nowMs);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(nowMs / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, at, body),
  };
}
