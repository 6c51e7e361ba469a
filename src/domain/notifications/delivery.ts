/** The deliveries of messages: one for each occurrence that a notification reports. */
import { createHash } from 'node:crypto';
import { dayMs, hourMs, minuteMs } from '../time/duration.js';
import type { Channel } from './channel.js';
import type { NotificationKind } from './notification.js';

/** Pauses after each failed attempt to send a message. After the last attempt, about 22 hours later, it is given up. */
export const messageRetryMs: readonly number[] = [
  minuteMs,
  5 * minuteMs,
  15 * minuteMs,
  hourMs,
  3 * hourMs,
  6 * hourMs,
  12 * hourMs,
];

/**
 * A later next attempt comes from a clock that was ahead. Much longer than any pause, because a node must not send what another one
 * with a wrong clock is sending.
 */
export const messageWaitMsMax = 32 * dayMs;

/** `pending`: to be sent. `delivered`: accepted by its receiver. `failed`: given up after the last attempt. */
type DeliveryState = 'pending' | 'delivered' | 'failed';

export interface Delivery {
  /** The `webhook-id`: the same for all attempts, and on all nodes. */
  readonly id: string;
  readonly notificationId: string;
  readonly organizationId: string;
  readonly projectId: string;
  readonly occurrence: string;
  /** A `Message` as JSON. Written once, so that an occurrence never has two different messages. */
  readonly message: string;
  readonly state: DeliveryState;
  /** Attempts that began. */
  readonly attempts: number;
  /** When to try next: while a node is sending, when another one may take over. Milliseconds since 1970, as all times here. */
  readonly nextAt: number;
  readonly createdAt: number;
  readonly finishedAt: number | null;
  readonly lastError: string | null;
}

/** A delivery that a node may send, with where it goes. */
export interface ClaimedDelivery extends Delivery {
  readonly kind: NotificationKind;
  readonly channel: Channel;
  /** Encrypted. */
  readonly destination: string;
  /** The notification in words, for the audit log. */
  readonly description: string;
}

/** How an attempt ended. */
export type DeliveryOutcome =
  | { readonly state: 'delivered' }
  | { readonly state: 'pending'; readonly nextAt: number; readonly error: string }
  | { readonly state: 'failed'; readonly error: string };

/** How an attempt ended, for the metrics. */
export const DELIVERY_RESULTS = ['delivered', 'retried', 'failed'] as const;

export type DeliveryResult = (typeof DELIVERY_RESULTS)[number];

/** The id of the message about an occurrence: the same wherever and however often it is made. */
export function messageId(notificationId: string, occurrence: string): string {
  const hash = createHash('sha256').update(`${notificationId} ${occurrence}`).digest('base64url');
  return `msg_${hash.slice(0, 32)}`;
}

/** What follows a failed attempt. */
export function afterFailure(attempts: number, error: string, nowMs: number): DeliveryOutcome {
  const pauseMs = messageRetryMs[attempts - 1];
  return pauseMs === undefined
    ? { state: 'failed', error }
    : { state: 'pending', nextAt: nowMs + pauseMs, error };
}
