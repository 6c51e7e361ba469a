/**
 * Mails links that set a new password to people who forgot theirs. A visitor learns nothing of who has an account: the answer is the
 * same, and leaves before anything looks for the account.
 */
import { setTimeout } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { mailLink } from '../../app/notifications/link-mail.js';
import type { NotificationSetup } from '../../app/notifications/notifications.js';
import { reasonOf } from '../../app/notifications/sending.js';
import type { AuthProvider } from '../../auth/auth-provider.js';
import type { Credentials } from '../../auth/credentials.js';
import { STRANGER } from '../../auth/sign-in-log.js';
import { CallerStatsError } from '../../domain/errors.js';
import { sharedNetworksOf } from '../../domain/keys/networks.js';
import {
  resetDelayMsMax,
  resetLinkSeconds,
  resetRequestsMax,
  resetRequestsWaitingMax,
  wideNetworkFactor,
} from '../../domain/limits.js';
import { generateId, type RandomInt } from '../../domain/random-text.js';
import type { Clock } from '../../domain/time/clock.js';
import { createThrottledWarning } from '../../shared/throttled-log.js';
import type { Store } from '../../storage/ports/store.js';
import { getClientAddress } from '../request/target.js';
import { takeAttempt } from './attempts.js';

interface Options {
  readonly authProvider: Pick<AuthProvider, 'secrets'>;
  readonly credentials: Credentials;
  readonly store: Pick<Store, 'throttles' | 'directory'>;
  readonly clock: Clock;
  readonly notifications: Pick<NotificationSetup, 'channels' | 'pagesUrl'>;
  readonly randomInt: RandomInt;
  readonly resetDelayMsMax?: number | undefined;
}

export class ResetMails {
  readonly #options: Options;
  readonly #running = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  /** Of these, requests whose account is looked for, and mails that wait for the mail server. */
  #looking = 0;
  #mailing = 0;
  readonly #warn: ReturnType<typeof createThrottledWarning>;

  constructor(options: Options) {
    this.#options = options;
    this.#warn = createThrottledWarning(options.clock);
  }

  /** Whether the server sends e-mail and knows the address of its pages. */
  get isOffered(): boolean {
    const { channels, pagesUrl } = this.#options.notifications;
    return channels.sendsEmail && pagesUrl !== undefined;
  }

  /**
   * Once the answer has left, mails a link to the address if it has an account with a password: one without uses single sign-on, and
   * its provider decides who gets in. Throws `429` if the network of the visitor has asked too often, and `503` if too many requests
   * wait: neither says who has an account. Too many mails at a time would say so, and are only logged.
   */
  async ask(request: FastifyRequest, reply: FastifyReply, email: string): Promise<void> {
    const { pagesUrl } = this.#options.notifications;
    if (!this.isOffered || pagesUrl === undefined)
      throw new CallerStatsError(
        'not_found',
        'This server sends no links by e-mail; ask your administrator for one.',
      );
    const address = getClientAddress(request);
    await this.#limitVisitor(address);
    if (this.#looking >= resetRequestsWaitingMax)
      throw new CallerStatsError('busy', 'Too many people ask for a link now; try again in a minute.');
    this.#looking++;
    const mailed = whenAnswered(reply)
      .then(() => this.#delay())
      .then(() => this.#options.credentials.hasPassword(email))
      .finally(() => this.#looking--)
      .then((hasPassword) => (hasPassword ? this.#mail({ email, address, pagesUrl }) : null))
      .catch((error: unknown) => reasonOf(error))
      .then((problem) => {
        if (problem !== null)
          this.#warn(request.log, { problem }, 'a link that sets a new password was not sent');
      });
    this.#running.add(mailed);
    void mailed.then(() => this.#running.delete(mailed));
  }

  /** Sends what was asked for. Resolves once no mail is on its way. */
  async finished(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#running);
  }

  /** The next request of the visitor would wait for the work of a mail, and so tell of an account. */
  async #delay(): Promise<void> {
    const { randomInt, resetDelayMsMax: delayMsMax = resetDelayMsMax } = this.#options;
    if (delayMsMax === 0) return;
    const { signal } = this.#stopping;
    await setTimeout(randomInt(delayMsMax), undefined, { signal }).catch(() => {});
  }

  async #limitVisitor(address: string): Promise<void> {
    const { narrow, wide } = sharedNetworksOf(address);
    const limits = [
      [narrow, resetRequestsMax],
      ...(wide === undefined ? [] : ([[wide, resetRequestsMax * wideNetworkFactor]] as const)),
    ] as const;
    const { store, clock } = this.#options;
    for (const [network, attemptsMax] of limits)
      await takeAttempt(store.throttles, clock.now(), {
        subject: await this.#keyOf(network),
        attemptsMax,
        windowSeconds: resetLinkSeconds,
        message: 'Too many links were asked for from your network. Try again in an hour.',
      });
  }

  /** Returns why no mail was sent to somebody who should get one. */
  async #mail(asked: Asked): Promise<string | null> {
    if (this.#mailing >= resetRequestsWaitingMax) return 'too many mails are on their way';
    this.#mailing++;
    try {
      return await this.#mailLink(asked);
    } finally {
      this.#mailing--;
    }
  }

  async #mailLink({ email, address, pagesUrl }: Asked): Promise<string | null> {
    const { credentials, store, clock, notifications, randomInt } = this.#options;
    const reset = await credentials.startMailedReset(email);
    // The links that were mailed before still work.
    if (reset === undefined) return null;
    const link = `${pagesUrl}/reset#${reset.token}`;
    const mail = { to: email, pagesUrl, link, id: generateId(randomInt) };
    const { problem } = await mailLink((one) => notifications.channels.sendMail(one), mail);
    if (problem !== null) {
      await reset.forget();
      return problem;
    }
    const change = { action: 'user.password', detail: 'reset link sent by e-mail' } as const;
    await store.directory.logUserChange(email, change, { name: STRANGER, address, at: clock.now() });
    return null;
  }

  /** Of a person or a network, signed: the store has no addresses. */
  async #keyOf(address: string): Promise<string> {
    return (await this.#options.authProvider.secrets()).sign('reset mails', address);
  }
}

interface Asked {
  readonly email: string;
  /** Of the visitor. */
  readonly address: string;
  readonly pagesUrl: string;
}

/** Resolves when nothing of the answer is left to send. */
function whenAnswered({ raw }: FastifyReply): Promise<void> {
  return new Promise((resolve) => {
    if (raw.destroyed) resolve();
    raw.once('finish', resolve);
    raw.once('close', resolve);
  });
}
