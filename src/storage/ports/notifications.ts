/** The part of the storage port for notifications and their deliveries. What `store.ts` says of every method holds here too. */
import type { ClaimedDelivery, Delivery, DeliveryOutcome } from '../../domain/notifications/delivery.js';
import type { Notification } from '../../domain/notifications/notification.js';
import type { Actor } from '../../domain/people/audit.js';

/** New values for fields of a notification. Fields left out do not change. */
export type NotificationChange = Partial<
  Omit<Notification, 'id' | 'organizationId' | 'projectId' | 'createdBy' | 'createdAt'>
>;

/** What a check changes. */
export interface CheckResult {
  readonly checkAt: number;
  readonly incidentAt: number | null;
  /** The message to send; null if there is nothing to report. */
  readonly delivery: Pick<Delivery, 'id' | 'occurrence' | 'message' | 'createdAt'> | null;
}

export interface NotificationReads {
  findById(organizationId: string, id: string): Promise<Notification | undefined>;

  /** The notifications of a project of the organization. */
  listNotifications(organizationId: string, projectId: string): Promise<Notification[]>;

  /** The newest deliveries of a project, newest first. */
  listDeliveries(organizationId: string, projectId: string, limit: number): Promise<Delivery[]>;

  /** Notifications of all projects whose check is due, the longest overdue first. */
  findDue(nowMs: number, limit: number): Promise<Notification[]>;

  /** The encrypted destinations of all notifications, by their ids. */
  listDestinations(): Promise<readonly Pick<Notification, 'id' | 'destination'>[]>;
}

export interface NotificationChanges {
  /**
   * Adds a notification. `not_found` without its project; `invalid` if the project has `notificationsMax` already, however many
   * are added at once.
   */
  create(notification: Notification, by: Actor): Promise<void>;

  /** Changes a notification and returns it. `not_found` if the organization has none with this id. */
  change(organizationId: string, id: string, change: NotificationChange, by: Actor): Promise<Notification>;

  /** Deletes a notification and its deliveries, also those that are not sent yet. `not_found` as above. */
  remove(organizationId: string, id: string, by: Actor): Promise<void>;

  /** Writes into the audit log that a test message was sent, or why it was not. `not_found` as above. */
  logTest(organizationId: string, id: string, result: string, by: Actor): Promise<void>;

  /**
   * Ends the check of a notification that still has this `checkAt`, and adds the delivery, both or neither. False, without a
   * change, if another node has ended it, or if the notification is gone: of any number of nodes, one gets true.
   */
  endCheck(id: string, checkAt: number, result: CheckResult): Promise<boolean>;

  /**
   * Takes pending deliveries that are due, for `leaseMs`: until then no other node gets them. Counts an attempt of each. Any
   * number of nodes may call it at once; each delivery goes to one of them.
   */
  claim(nowMs: number, leaseMs: number, limit: number): Promise<ClaimedDelivery[]>;

  /**
   * Notes how an attempt ended, and writes the end of a delivery into the audit log. False, without a change, if the delivery
   * has ended or is gone, or if the attempt failed after another node had taken over.
   */
  endAttempt(
    claimed: Pick<ClaimedDelivery, 'id' | 'attempts' | 'description'>,
    outcome: DeliveryOutcome,
    by: Actor,
  ): Promise<boolean>;

  /** Deletes at most `limit` deliveries that ended before a time, and returns how many. */
  prune(before: number, limit: number): Promise<number>;

  /** Replaces the destination of a notification that still has this one: the same, encrypted anew. */
  reseal(id: string, before: string, after: string): Promise<void>;
}

export interface Notifications extends NotificationReads, NotificationChanges {}
