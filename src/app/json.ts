/**
 * The JSON of keys, projects and people, the same in the command line and in the dashboard API. Times are RFC 3339 in UTC.
 * The dashboard imports the types, so this file imports nothing that a browser lacks.
 */
import { formatTime } from '../domain/format.js';
import { type ApiKey, keyStatus } from '../domain/keys/api-key.js';
import type { Delivery } from '../domain/notifications/delivery.js';
import type { Message } from '../domain/notifications/message.js';
import type { Notification } from '../domain/notifications/notification.js';
import type { Invitation } from '../domain/people/invitation.js';
import type { Member, Rights } from '../domain/people/member.js';
import type { Organization } from '../domain/projects/organization.js';
import type { Project } from '../domain/projects/project.js';
import type { ShareLink } from '../domain/projects/share-link.js';
import { mapTelemetrySettings } from '../domain/queries/telemetry-settings.js';

/** An API key, without its hash. */
export function keyToJson(key: ApiKey, nowMs: number) {
  return {
    id: key.id,
    name: key.name,
    type: key.type,
    project: key.projectId,
    scopes: key.scopes,
    allow: key.allow,
    start: key.start,
    end: key.end,
    status: keyStatus(key, nowMs),
    createdAt: formatTime(key.createdAt),
    createdBy: key.createdBy,
    expiresAt: toTimeOrNull(key.expiresAt),
    disabledAt: toTimeOrNull(key.disabledAt),
    revokedAt: toTimeOrNull(key.revokedAt),
    lastUsedAt: toTimeOrNull(key.lastUsedAt),
    successor: key.successorId,
  };
}

export type KeyJson = Readonly<ReturnType<typeof keyToJson>>;

export function organizationToJson({ id, name, createdAt, secondFactor }: Organization) {
  return { id, name, createdAt: formatTime(createdAt), secondFactor };
}

export function projectToJson(project: Project) {
  const { id, name, createdAt, timeZone, weekStart, retentionDays, earliestAt, rowsFrom } = project;
  return {
    id,
    name,
    createdAt: formatTime(createdAt),
    timeZone,
    weekStart,
    retentionDays,
    earliestAt: toTimeOrNull(earliestAt),
    rowsFrom: toTimeOrNull(rowsFrom),
    ...mapTelemetrySettings((setting) => project[setting]),
  };
}

export type ProjectJson = Readonly<ReturnType<typeof projectToJson>>;

/** An invitation, without the hash of its token. */
export function invitationToJson(invitation: Invitation) {
  const { id, email, createdBy, createdAt, expiresAt } = invitation;
  const times = { createdAt: formatTime(createdAt), expiresAt: formatTime(expiresAt) };
  return { id, email, ...rightsToJson(invitation), createdBy, ...times };
}

/** A share link, without the hashes of its token and its password. */
export function shareLinkToJson(link: ShareLink, nowMs: number) {
  const { id, name, end, passwordHash, origins, createdBy, createdAt, expiresAt } = link;
  return {
    id,
    name,
    end,
    hasPassword: passwordHash !== null,
    origins,
    createdBy,
    createdAt: formatTime(createdAt),
    expiresAt: toTimeOrNull(expiresAt),
    isExpired: expiresAt !== null && expiresAt <= nowMs,
  };
}

export function memberToJson({ email, createdAt, ...rights }: Member) {
  return { email, ...rightsToJson(rights), createdAt: formatTime(createdAt) };
}

/** Only readers have projects of their own. */
export function rightsToJson({ role, projects }: Rights): Partial<Rights> & Pick<Rights, 'role'> {
  return role === 'reader' ? { role, projects } : { role };
}

/** A notification, without its encrypted destination. */
export function notificationToJson(notification: Notification) {
  const { id, projectId, kind, period, hours, factor, minimum, timeZone, channel } = notification;
  return {
    id,
    project: projectId,
    kind,
    period,
    hours,
    factor,
    minimum,
    timeZone,
    channel,
    destination: notification.shownDestination,
    createdBy: notification.createdBy,
    createdAt: formatTime(notification.createdAt),
    nextCheckAt: formatTime(notification.checkAt),
    incidentAt: toTimeOrNull(notification.incidentAt),
  };
}

export type NotificationJson = Readonly<ReturnType<typeof notificationToJson>>;

/** A delivery with the title of its message. */
export function deliveryToJson(delivery: Delivery) {
  const { id, notificationId, state, attempts, createdAt, finishedAt, nextAt, lastError } = delivery;
  return {
    id,
    notification: notificationId,
    title: (JSON.parse(delivery.message) as Message).title,
    state,
    attempts,
    createdAt: formatTime(createdAt),
    finishedAt: toTimeOrNull(finishedAt),
    nextAttemptAt: state === 'pending' ? formatTime(nextAt) : null,
    error: lastError,
  };
}

export type DeliveryJson = Readonly<ReturnType<typeof deliveryToJson>>;

function toTimeOrNull(timeMs: number | null): string | null {
  return timeMs === null ? null : formatTime(timeMs);
}
