/** Sends messages by webhook, to Slack and by e-mail. */
import { CallerStatsError } from '../../../domain/errors.js';
import { messageTimeoutMs } from '../../../domain/limits.js';
import type { Channel } from '../../../domain/notifications/channel.js';
import type { Message } from '../../../domain/notifications/message.js';
import type { Destination } from '../../../domain/notifications/notification.js';
import { withDeadline } from '../../../shared/deadline.js';
import type { Mailer } from './mailer.js';
import type { Poster } from './poster.js';
import { signedHeaders, webhookBody } from './webhook.js';

/** A message on its way. */
export interface Sending {
  /** The same for all attempts. */
  readonly id: string;
  readonly message: Message;
  readonly destination: Destination;
  readonly nowMs: number;
}

type Send = (sending: Sending, signal: AbortSignal) => Promise<void>;

export class Channels {
  readonly #poster: Poster;
  readonly #mailer: Mailer | undefined;
  readonly #sends: Readonly<Record<Channel, Send>> = {
    webhook: async ({ id, message, destination: { to, secret }, nowMs }, signal) => {
      if (secret === undefined)
        throw new CallerStatsError('invalid', 'the webhook has no secret; enter its address again');
      const body = webhookBody(message);
      await this.#poster.post(to, { body, headers: signedHeaders({ id, secret, nowMs }, body), signal });
    },
    slack: async ({ message, destination }, signal) => {
      const body = JSON.stringify({ text: slackText(message) });
      await this.#poster.post(destination.to, { body, headers: {}, signal });
    },
    email: async ({ id, message, destination }) => {
      if (this.#mailer === undefined)
        throw new CallerStatsError('invalid', 'this server sends no e-mail any more');
      await this.#mailer.send({ id, to: destination.to, subject: message.title, text: message.text });
    },
  };

  /** Without a mailer, the server sends no e-mail. */
  constructor(poster: Poster, mailer: Mailer | undefined) {
    this.#poster = poster;
    this.#mailer = mailer;
  }

  get sendsEmail(): boolean {
    return this.#mailer !== undefined;
  }

  /** Whether the operator allows receivers that may lack TLS. */
  get allowsHttp(): boolean {
    return this.#poster.allowsHttp;
  }

  /** Resolves once the receiver has accepted the message. Rejects with the reason, for people, otherwise. */
  async send(channel: Channel, sending: Sending): Promise<void> {
    const late = () =>
      new CallerStatsError('unavailable', `the receiver took longer than ${messageTimeoutMs / 1000} s`);
    await withDeadline(messageTimeoutMs, late, (signal) => this.#sends[channel](sending, signal));
  }
}

/** Slack reads three characters as its own marks (Slack's reference, "Escaping text"). */
function slackText({ title, text }: Message): string {
  const plainly = (plain: string): string =>
    plain.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return `*${plainly(title)}*\n${plainly(text)}`;
}
