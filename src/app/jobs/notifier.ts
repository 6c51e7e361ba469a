/**
 * Checks notifications and sends their messages. Every process of every node runs one. The store lets one of them end a check,
 * and one at a time send a message, so that each occurrence has one message however many there are.
 */
import { cleanupRowsMax, messageDaysMax, messageLeaseMs, messagesSentMax } from '../../domain/limits.js';
import {
  afterFailure,
  type ClaimedDelivery,
  type DeliveryOutcome,
  type DeliveryResult,
  messageId,
} from '../../domain/notifications/delivery.js';
import { evaluate } from '../../domain/notifications/evaluation.js';
import { type Message, writeMessage } from '../../domain/notifications/message.js';
import type { Notification, NotificationKind } from '../../domain/notifications/notification.js';
import { nextCheck } from '../../domain/notifications/schedule.js';
import type { Actor } from '../../domain/people/audit.js';
import type { Clock } from '../../domain/time/clock.js';
import { dayMs } from '../../domain/time/duration.js';
import type { Store } from '../../storage/ports/store.js';
import { findLosses } from '../losses.js';
import type { NotificationSetup } from '../notifications/notifications.js';
import { openDestination, reasonOf } from '../notifications/sending.js';

export interface NotifierOptions extends Pick<NotificationSetup, 'channels' | 'seal' | 'linkTo'> {
  readonly store: Pick<Store, 'notifications' | 'directory' | 'counts' | 'ingestion'>;
  readonly clock: Clock;
  /** Counts attempts, for the metrics. */
  readonly notified?: ((kind: NotificationKind, result: DeliveryResult) => void) | undefined;
  /** For the log. */
  readonly warn: (details: object, message: string) => void;
}

/** Notifications in one read. */
const dueMax = 100;

export class Notifier {
  readonly #options: NotifierOptions;

  constructor(options: NotifierOptions) {
    this.#options = options;
  }

  /** Does everything that is due now. Throws `unavailable` if the store is; nothing is lost. */
  async run(signal?: AbortSignal): Promise<void> {
    await this.#check(signal);
    await this.#deliver(signal);
    const before = this.#options.clock.now() - messageDaysMax * dayMs;
    await this.#options.store.notifications.prune(before, cleanupRowsMax);
  }

  /** Encrypts all destinations with the newest secret, so that older ones can be forgotten. */
  async reseal(): Promise<void> {
    const { store, seal } = this.#options;
    for (const { id, destination } of await store.notifications.listDestinations()) {
      if (!(await seal.isOutdated(destination))) continue;
      const text = await seal.open(destination);
      // If its secret is gone, the message says so.
      if (text !== undefined) await store.notifications.reseal(id, destination, await seal.seal(text));
    }
  }

  async #check(signal: AbortSignal | undefined): Promise<void> {
    const { store, clock } = this.#options;
    // Those that fail stay due, and must not keep away others.
    const failed = new Set<string>();
    while (!signal?.aborted) {
      const due = await store.notifications.findDue(clock.now(), dueMax + failed.size);
      const ready = due.filter(({ id }) => !failed.has(id));
      if (ready.length === 0) return;
      for (const notification of ready) {
        if (!(await this.#checkOne(notification))) failed.add(notification.id);
      }
    }
  }

  /** Whether the check has ended, here or elsewhere. */
  async #checkOne(notification: Notification): Promise<boolean> {
    const { store, clock, warn } = this.#options;
    const { id, organizationId, projectId, checkAt } = notification;
    try {
      const project = await store.directory.findProject(organizationId, projectId);
      // Deleted meanwhile, with its notifications.
      if (project === undefined) return false;
      const nowMs = clock.now();
      const next = nextCheck(notification, project.weekStart, nowMs);
      if (checkAt > nowMs) {
        // What it found then was not so, either.
        const incidentAt = (notification.incidentAt ?? 0) > nowMs ? null : notification.incidentAt;
        if (await store.notifications.endCheck(id, checkAt, { checkAt: next, incidentAt, delivery: null }))
          warn(
            { notification: id, projectId },
            'a clock that was ahead put off a notification: it is checked again',
          );
        return true;
      }
      const { incidentAt, finding } = await evaluate(notification, nowMs, {
        weekStart: project.weekStart,
        count: (range) => store.counts.count(projectId, range),
        countCallers: (range) => store.counts.countCallers(projectId, range),
        findExtent: () => store.counts.findExtent(projectId),
      });
      const losses = finding?.notice.type === 'digest' ? await findLosses(store, project, nowMs, next) : [];
      const warnings = losses.map(({ message, remedy }) => `${message} ${remedy}`);
      const context = { project, notification, nowMs, link: this.#options.linkTo(projectId), warnings };
      const delivery = finding && {
        id: messageId(id, finding.occurrence),
        occurrence: finding.occurrence,
        message: JSON.stringify(writeMessage(finding.notice, context)),
        createdAt: nowMs,
      };
      await store.notifications.endCheck(id, checkAt, { checkAt: next, incidentAt, delivery });
      return true;
    } catch (error) {
      warn({ err: error, notification: id, projectId }, 'a notification could not be checked');
      return false;
    }
  }

  async #deliver(signal: AbortSignal | undefined): Promise<void> {
    const { store, clock } = this.#options;
    while (!signal?.aborted) {
      const claimed = await store.notifications.claim(clock.now(), messageLeaseMs, messagesSentMax);
      if (claimed.length === 0) return;
      await Promise.all(claimed.map((delivery) => this.#deliverOne(delivery)));
    }
  }

  async #deliverOne(delivery: ClaimedDelivery): Promise<void> {
    const { store, clock, notified, warn } = this.#options;
    const { kind, attempts } = delivery;
    const error = await this.#send(delivery);
    const nowMs = clock.now();
    const outcome: DeliveryOutcome =
      error === undefined ? { state: 'delivered' } : afterFailure(attempts, error, nowMs);
    if (outcome.state === 'failed')
      warn({ message: delivery.id, projectId: delivery.projectId, reason: error }, 'a message was given up');
    notified?.(kind, outcome.state === 'pending' ? 'retried' : outcome.state);
    const by: Actor = { name: 'notifications', address: null, at: nowMs };
    // If this fails, the message is sent once more with the same id when the lease has ended.
    await store.notifications.endAttempt(delivery, outcome, by);
  }

  /** Returns why it failed. */
  async #send({ id, channel, message, destination }: ClaimedDelivery): Promise<string | undefined> {
    const { channels, clock } = this.#options;
    try {
      await channels.send(channel, {
        id,
        message: JSON.parse(message) as Message,
        destination: await openDestination(this.#options.seal, destination),
        nowMs: clock.now(),
      });
      return undefined;
    } catch (error) {
      return reasonOf(error);
    }
  }
}
