/**
 * Notifications and their deliveries, for every SQL database. Each change is one transaction. They lock in one order: project,
 * notification, delivery.
 */
import { CallerStatsError } from '../../domain/errors.js';
import { notificationsMax } from '../../domain/limits.js';
import {
  type ClaimedDelivery,
  type Delivery,
  type DeliveryOutcome,
  messageWaitMsMax,
} from '../../domain/notifications/delivery.js';
import { describeNotification, type Notification } from '../../domain/notifications/notification.js';
import { CHECKS_AHEAD_MS } from '../../domain/notifications/schedule.js';
import type { Actor, AuditAction } from '../../domain/people/audit.js';
import { hourMs } from '../../domain/time/duration.js';
import type {
  CheckResult,
  NotificationChange,
  NotificationChanges,
  NotificationReads,
} from '../ports/notifications.js';
import { notFound, SqlChanges } from './changes.js';
import { DELIVERY, NOTIFICATION } from './rows.js';
import { SqlTables } from './tables.js';

const BY_ID = 'WHERE organization_id = $1 AND id = $2';

/** They need no transaction, and do not wait for changes. */
export class SqlNotificationReads extends SqlTables implements NotificationReads {
  findById(organizationId: string, id: string): Promise<Notification | undefined> {
    return this.find(NOTIFICATION, BY_ID, [organizationId, id]);
  }

  listNotifications(organizationId: string, projectId: string): Promise<Notification[]> {
    const rest = 'WHERE organization_id = $1 AND project_id = $2 ORDER BY created_at, id';
    return this.list(NOTIFICATION, rest, [organizationId, projectId]);
  }

  listDeliveries(organizationId: string, projectId: string, limit: number): Promise<Delivery[]> {
    const rest = 'WHERE organization_id = $1 AND project_id = $2 ORDER BY created_at DESC, id DESC LIMIT $3';
    return this.list(DELIVERY, rest, [organizationId, projectId, limit]);
  }

  findDue(nowMs: number, limit: number): Promise<Notification[]> {
    const ahead = `${Object.entries(CHECKS_AHEAD_MS)
      .map(([kind, ms]) => `WHEN '${kind}' THEN CAST(${ms} AS bigint)`)
      .join(' ')} END + coalesce(hours, 0) * CAST(${hourMs} AS bigint)`;
    return this.list(
      NOTIFICATION,
      `WHERE check_at <= $1 OR check_at > $1 + CASE kind ${ahead} ORDER BY check_at, id LIMIT $2`,
      [nowMs, limit],
    );
  }

  listDestinations(): Promise<readonly Pick<Notification, 'id' | 'destination'>[]> {
    return Promise.resolve(
      this.session.all(`SELECT id, destination FROM ${this.table('notification')} ORDER BY id`),
    );
  }
}

/** Each method is one transaction. They lock in one order: project, notification, delivery. */
export class SqlNotificationChanges extends SqlChanges implements NotificationChanges {
  readonly #table = this.table('notification');
  readonly #deliveries = this.table('notification_delivery');

  async create(notification: Notification, by: Actor): Promise<void> {
    const { organizationId, projectId } = notification;
    // Not shared, so that of two at once the second counts the first.
    await this.lockProject(organizationId, projectId, 'UPDATE');
    const row = await this.get<{ readonly present: number }>(
      `SELECT count(*) AS present FROM ${this.#table} WHERE organization_id = $1 AND project_id = $2`,
      [organizationId, projectId],
    );
    if (Number(row?.present) >= notificationsMax)
      throw new CallerStatsError('invalid', `The project has ${notificationsMax} notifications already.`);
    await this.session.run(this.insertInto(NOTIFICATION), NOTIFICATION.values(notification));
    await this.#logChange('notification.create', notification, describeNotification(notification), by);
  }

  async change(
    organizationId: string,
    id: string,
    change: NotificationChange,
    by: Actor,
  ): Promise<Notification> {
    const before = await this.#lock(organizationId, id);
    const after: Notification = { ...before, ...change };
    await this.session.run(
      `UPDATE ${this.#table} SET kind = $2, period = $3, hours = $4, factor = $5, minimum = $6, time_zone = $7,
         channel = $8, destination = $9, shown_destination = $10, check_at = $11, incident_at = $12 WHERE id = $1`,
      [
        id,
        after.kind,
        after.period,
        after.hours,
        after.factor,
        after.minimum,
        after.timeZone,
        after.channel,
        after.destination,
        after.shownDestination,
        after.checkAt,
        after.incidentAt,
      ],
    );
    const detail = `${describeNotification(before)}, now ${describeNotification(after)}`;
    await this.#logChange('notification.change', after, detail, by);
    return after;
  }

  async remove(organizationId: string, id: string, by: Actor): Promise<void> {
    const notification = await this.#lock(organizationId, id);
    await this.session.run(`DELETE FROM ${this.#table} WHERE id = $1`, [id]);
    await this.#logChange('notification.delete', notification, describeNotification(notification), by);
  }

  async logTest(organizationId: string, id: string, result: string, by: Actor): Promise<void> {
    const notification = await this.#lock(organizationId, id);
    const detail = `${describeNotification(notification)}: ${result}`;
    await this.#logChange('notification.test', notification, detail, by);
  }

  async endCheck(id: string, checkAt: number, result: CheckResult): Promise<boolean> {
    const notification = await this.get<Pick<Notification, 'organizationId' | 'projectId'>>(
      `UPDATE ${this.#table} SET check_at = $3, incident_at = $4 WHERE id = $1 AND check_at = $2
       RETURNING organization_id AS "organizationId", project_id AS "projectId"`,
      [id, checkAt, result.checkAt, result.incidentAt],
    );
    if (notification === undefined) return false;
    if (result.delivery === null) return true;
    const delivery: Delivery = {
      ...result.delivery,
      ...notification,
      notificationId: id,
      state: 'pending',
      attempts: 0,
      nextAt: result.delivery.createdAt,
      finishedAt: null,
      lastError: null,
    };
    // The clock of the server may have been set back, so that it meets the same occurrence again.
    await this.session.run(`${this.insertInto(DELIVERY)} ON CONFLICT DO NOTHING`, DELIVERY.values(delivery));
    return true;
  }

  async claim(nowMs: number, leaseMs: number, limit: number): Promise<ClaimedDelivery[]> {
    const rows = await this.session.all<{ readonly id: string }>(
      `UPDATE ${this.#deliveries} SET attempts = attempts + 1, next_at = $2 WHERE id IN (
         SELECT id FROM ${this.#deliveries} WHERE state = 'pending' AND (next_at <= $1 OR next_at > $4)
         ORDER BY next_at, id LIMIT $3 ${this.dialect.lock('UPDATE SKIP LOCKED')})
       RETURNING id`,
      [nowMs, nowMs + leaseMs, limit, nowMs + messageWaitMsMax],
    );
    const ids = JSON.stringify(rows.map(({ id }) => id));
    const claimed = await this.session.all(
      `SELECT ${DELIVERY.select()}, ${NOTIFICATION.select('notification', 'of')}
       FROM ${this.#deliveries} JOIN ${this.#table} ON notification.id = notification_delivery.notification_id
       WHERE notification_delivery.id IN (${this.dialect.jsonElements('$1')}) ORDER BY notification_delivery.created_at, notification_delivery.id`,
      [ids],
    );
    return claimed.map((row) => {
      const notification = NOTIFICATION.read(row, 'of');
      const { kind, channel, destination } = notification;
      return {
        ...DELIVERY.read(row),
        kind,
        channel,
        destination,
        description: describeNotification(notification),
      };
    });
  }

  async endAttempt(
    { id, attempts, description }: Pick<ClaimedDelivery, 'id' | 'attempts' | 'description'>,
    outcome: DeliveryOutcome,
    by: Actor,
  ): Promise<boolean> {
    const { state } = outcome;
    const error = outcome.state === 'delivered' ? null : outcome.error;
    const nextAt = outcome.state === 'pending' ? outcome.nextAt : by.at;
    const finishedAt = state === 'pending' ? null : by.at;
    // An accepted message is delivered, even if its node was late and another one is sending it again.
    const delivery = await this.get<Pick<Delivery, 'organizationId' | 'projectId'>>(
      `UPDATE ${this.#deliveries} SET state = $3, next_at = $4, finished_at = $5, last_error = $6
       WHERE id = $1 AND state = 'pending' AND (attempts = $2 OR $7 = 1)
       RETURNING organization_id AS "organizationId", project_id AS "projectId"`,
      [id, attempts, state, nextAt, finishedAt, error, state === 'delivered' ? 1 : 0],
    );
    if (delivery === undefined) return false;
    if (state === 'delivered')
      await this.#logChange('notification.deliver', delivery, `${description}: ${id}`, by);
    if (state === 'failed')
      await this.#logChange('notification.fail', delivery, `${description}: ${id}; ${error}`, by);
    return true;
  }

  prune(before: number, limit: number): Promise<number> {
    return Promise.resolve(
      this.session.run(
        `DELETE FROM ${this.#deliveries} WHERE id IN (SELECT id FROM ${this.#deliveries}
         WHERE state <> 'pending' AND finished_at < $1 LIMIT $2 ${this.dialect.lock('UPDATE SKIP LOCKED')})`,
        [before, limit],
      ),
    );
  }

  async reseal(id: string, before: string, after: string): Promise<void> {
    await this.session.run(`UPDATE ${this.#table} SET destination = $3 WHERE id = $1 AND destination = $2`, [
      id,
      before,
      after,
    ]);
  }

  async #lock(organizationId: string, id: string): Promise<Notification> {
    const rest = `${BY_ID} ${this.dialect.lock('UPDATE')}`;
    const notification = await this.find(NOTIFICATION, rest, [organizationId, id]);
    if (notification === undefined) throw notFound(`notification ${id}`);
    return notification;
  }

  #logChange(
    action: AuditAction,
    { organizationId, projectId }: Pick<Notification, 'organizationId' | 'projectId'>,
    detail: string,
    by: Actor,
  ): Promise<void> {
    return this.log({ organizationId, action, targetId: projectId, detail }, by);
  }
}
