/** The notifications of a project. */
import type {
  NotificationsResponse,
  SavedNotificationResponse,
} from '../../../../../src/http/dashboard/responses.js';
import { getQuery, request } from '../../../api/client.js';
import type { ProjectRef } from '../../../api/paths.js';
import { organizationPath, projectPath } from '../../../api/paths.js';
import { queryClient } from '../../../api/query-client.js';

export type Notification = NotificationsResponse['notifications'][number];
export type Delivery = NotificationsResponse['deliveries'][number];
export type SavedNotification = SavedNotificationResponse;

export interface NotificationFields
  extends Pick<Notification, 'kind' | 'timeZone' | 'channel'>,
    Partial<Pick<Notification, 'period' | 'hours' | 'factor' | 'minimum'>> {
  /** Left out to keep the present one. */
  readonly destination?: string;
}

export function notificationsQuery(ref: ProjectRef) {
  return getQuery<NotificationsResponse>(listPath(ref));
}

/** Creates a notification, or changes the one with this id. Only this response contains the secret of a webhook. */
export async function saveNotification(
  ref: ProjectRef,
  id: string | undefined,
  fields: NotificationFields,
): Promise<SavedNotification> {
  const saved = await (id === undefined
    ? request<SavedNotification>('POST', listPath(ref), fields)
    : request<SavedNotification>('PATCH', onePath(ref, id), fields));
  await queryClient.invalidateQueries(notificationsQuery(ref));
  return saved;
}

export async function deleteNotification(ref: ProjectRef, id: string): Promise<void> {
  await request('DELETE', onePath(ref, id));
  await queryClient.invalidateQueries(notificationsQuery(ref));
}

/** Sends a test message. Returns why the receiver did not accept it, or null. */
export async function testNotification(ref: ProjectRef, id: string): Promise<string | null> {
  const { problem } = await request<{ problem: string | null }>('POST', `${onePath(ref, id)}/test`, {});
  return problem;
}

function listPath({ organizationId, projectId }: ProjectRef): string {
  return `${projectPath(organizationId, projectId)}/notifications`;
}

function onePath({ organizationId }: ProjectRef, id: string): string {
  return `${organizationPath(organizationId)}/notifications/${encodeURIComponent(id)}`;
}
