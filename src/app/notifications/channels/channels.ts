/** Sends messages as the forms of `domain/notifications/channel.ts` say. */
import { CallerStatsError } from '../../../domain/errors.js';
import { messageTimeoutMs } from '../../../domain/limits.js';
import { CHANNEL_FORMS, type Channel } from '../../../domain/notifications/channel.js';
import type { Message } from '../../../domain/notifications/message.js';
import type { Destination } from '../../../domain/notifications/notification.js';
import { withDeadline } from '../../../shared/deadline.js';
import type { Mail, Mailer } from './mailer.js';
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

export class Channels {
  readonly #poster: Poster;
  readonly #mailer: Mailer | undefined;

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
    await withDeadline(messageTimeoutMs, late, (signal) => this.#send(channel, sending, signal));
  }

  /** The same of a mail that is no notification. */
  async sendMail(mail: Mail): Promise<void> {
    await withDeadline(messageTimeoutMs, late, () => this.#mail(mail));
  }

  async #send(channel: Channel, sending: Sending, signal: AbortSignal): Promise<void> {
    const { id, message, destination, nowMs } = sending;
    const { to, secret } = destination;
    const { form } = CHANNEL_FORMS[channel];
    if (form === 'mail') return this.#mail({ id, to, subject: message.title, text: message.text });
    if (form !== 'signed')
      return this.#poster.post(to, { body: JSON.stringify(form(message)), headers: {}, signal });
    if (secret === undefined)
      throw new CallerStatsError('invalid', 'the webhook has no secret; enter its address again');
    const body = webhookBody(message);
    await this.#poster.post(to, { body, headers: signedHeaders({ id, secret, nowMs }, body), signal });
  }

  async #mail(mail: Mail): Promise<void> {
    if (this.#mailer === undefined)
      throw new CallerStatsError('invalid', 'this server sends no e-mail any more');
    await this.#mailer.send(mail);
  }
}

function late(): CallerStatsError {
  return new CallerStatsError('unavailable', `the receiver took longer than ${messageTimeoutMs / 1000} s`);
}
