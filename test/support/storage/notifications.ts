/** Notifications as tests need them. */
import type { Notification } from '../../../src/domain/notifications/notification.js';
import { UTC } from '../../../src/domain/time/time-zone.js';

/** A weekly digest by webhook of the project `docs`, due at once. */
export function notificationOf(id: string, more: Partial<Notification> = {}): Notification {
  return {
    id,
    organizationId: 'default',
    projectId: 'docs',
    kind: 'digest',
    period: 'week',
    hours: null,
    factor: null,
    minimum: null,
    timeZone: UTC,
    channel: 'webhook',
    destination: `sealed destination of ${id}`,
    shownDestination: 'hooks.example.org',
    createdBy: 'a test',
    createdAt: 1000,
    checkAt: 1000,
    incidentAt: null,
    ...more,
  };
}
