/** Notifications of a project: digests and alerts. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { deliveryToJson, notificationToJson } from '../../../app/json.js';
import {
  changeNotification,
  createNotification,
  type SavedNotification,
  testNotification,
} from '../../../app/notifications/notifications.js';
import { messagesListedMax, testMessagesMax, testMessagesWindowSeconds } from '../../../domain/limits.js';
import { CHANNELS } from '../../../domain/notifications/channel.js';
import { DIGEST_PERIODS, NOTIFICATION_KINDS } from '../../../domain/notifications/notification.js';
import { failure, oneOf, type Result, success } from '../../../domain/result.js';
import { parseTimeZone, type TimeZone } from '../../../domain/time/time-zone.js';
import { optional, readFields, text } from '../../request/fields.js';
import { getParameter } from '../../request/target.js';
import { takeAttempt } from '../attempts.js';
import type { Dashboard } from '../context.js';
import { created, getProject } from '../requests.js';
import type { NotificationsResponse, SavedNotificationResponse } from '../responses.js';

export function addNotifications(app: FastifyInstance, dashboard: Dashboard): void {
  const { store, sessionGuard, notifications: setup } = dashboard;
  sessionGuard.addMemberResource(app, '/projects/:projectId/notifications', 'editor', {
    GET: async ({ organizationId }, request): Promise<NotificationsResponse> => {
      const { id: projectId } = await getProject(store, request);
      const [notifications, deliveries] = await Promise.all([
        store.notifications.listNotifications(organizationId, projectId),
        store.notifications.listDeliveries(organizationId, projectId, messagesListedMax),
      ]);
      return {
        notifications: notifications.map(notificationToJson),
        deliveries: deliveries.map(deliveryToJson),
        sendsEmail: setup.channels.sendsEmail,
      };
    },
    POST: async ({ organizationId, by }, request, reply) => {
      const wanted = readNotification(request);
      const { id: projectId } = await getProject(store, request);
      const saved = await createNotification(setup, { organizationId, projectId }, wanted, by);
      return created(reply, toSavedResponse(saved));
    },
  });
  sessionGuard.addMemberResource(app, '/notifications/:notificationId', 'editor', {
    PATCH: async ({ organizationId, by }, request) => {
      const target = { organizationId, id: getNotificationId(request) };
      return toSavedResponse(await changeNotification(setup, target, readNotification(request), by));
    },
    DELETE: async ({ organizationId, by }, request) => {
      await store.notifications.remove(organizationId, getNotificationId(request), by);
    },
  });
  sessionGuard.addMemberResource(app, '/notifications/:notificationId/test', 'editor', {
    POST: async ({ organizationId, by }, request) => {
      readFields(request, {});
      await limitTests(dashboard, organizationId);
      const problem = await testNotification(setup, { organizationId, id: getNotificationId(request) }, by);
      return { problem };
    },
  });
}

function getNotificationId(request: FastifyRequest): string {
  return getParameter(request, 'notificationId');
}

function readNotification(request: FastifyRequest) {
  return readFields(request, {
    kind: oneOf(NOTIFICATION_KINDS),
    period: optional(oneOf(DIGEST_PERIODS)),
    hours: optional(number),
    factor: optional(number),
    minimum: optional(number),
    timeZone,
    channel: oneOf(CHANNELS),
    destination: optional(text),
  });
}

function number(value: unknown): Result<number> {
  return typeof value === 'number' ? success(value) : failure('is not a number');
}

function timeZone(value: unknown): Result<TimeZone> {
  return parseTimeZone(typeof value === 'string' ? value : '');
}

/** The only response with the secret that signs messages. */
function toSavedResponse({ notification, secret }: SavedNotification): SavedNotificationResponse {
  return { notification: notificationToJson(notification), secret };
}

/** Test messages go to addresses that editors choose. Throws `429` above a limit. */
async function limitTests({ store, clock }: Dashboard, organizationId: string): Promise<void> {
  await takeAttempt(store.throttles, clock.now(), {
    subject: `test messages of ${organizationId}`,
    attemptsMax: testMessagesMax,
    windowSeconds: testMessagesWindowSeconds,
    message: `At most ${testMessagesMax} test messages an hour. Try again later.`,
  });
}
