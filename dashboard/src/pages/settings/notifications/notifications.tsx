/** The notifications of a project: a digest, and alerts. */
import { useQuery } from '@tanstack/react-query';
import { Suspense, useState } from 'react';
import { roleAllows } from '../../../../../src/domain/people/member.js';
import { DocsLink } from '../../../components/content/docs-link.js';
import { Section } from '../../../components/content/page.js';
import { Failure } from '../../../components/feedback/notice.js';
import { LoadingRows } from '../../../components/feedback/skeleton.js';
import { Button } from '../../../components/forms/button.js';
import type { CurrentProject } from '../../../navigation/current-project.js';
import { lazyCode } from '../../../navigation/lazy-code.js';
import { deleteNotification, type Notification, notificationsQuery } from './api.js';
import { Deliveries } from './deliveries.js';
import { NotificationsList, titleOf } from './notifications-list.js';

const NotificationDialog = lazyCode(() =>
  import('./notification-dialog.js').then((module) => module.NotificationDialog),
);
const ConfirmDialog = lazyCode(() =>
  import('../../../components/overlays/confirm-dialog.js').then((module) => module.ConfirmDialog),
);

export function Notifications({ organization, project }: CurrentProject) {
  const ref = { organizationId: organization.id, projectId: project.id };
  const { data, error, refetch } = useQuery(notificationsQuery(ref));
  const [edited, setEdited] = useState<Notification | 'new' | null>(null);
  const [deleted, setDeleted] = useState<Notification | null>(null);
  return (
    <Section
      title="Digest and alerts"
      lead={
        <>
          Messages by webhook, to Slack or by e-mail: a summary, nothing recorded, or more queries than usual.{' '}
          <DocsLink page="alerts">What is sent and when</DocsLink>
        </>
      }
    >
      {data === undefined && error === null && <LoadingRows what="Loading the notifications" rows={1} />}
      {data === undefined && error !== null && (
        <Failure error={error} what="The notifications could not be read." onRetry={() => void refetch()} />
      )}
      {data?.notifications.length === 0 && <p className="quiet">This project sends no messages.</p>}
      {data !== undefined && data.notifications.length > 0 && (
        <NotificationsList
          counts={ref}
          notifications={data.notifications}
          isEditor={roleAllows(organization.role, 'editor')}
          onChange={setEdited}
          onDelete={setDeleted}
        />
      )}
      {data !== undefined && data.deliveries.length > 0 && <Deliveries deliveries={data.deliveries} />}
      <div className="row">
        <Button onClick={() => setEdited('new')} disabled={data === undefined}>
          Add notification…
        </Button>
      </div>
      <Suspense>
        {edited !== null && data !== undefined && (
          <NotificationDialog
            project={project}
            counts={ref}
            before={edited === 'new' ? undefined : edited}
            sendsEmail={data.sendsEmail}
            onClose={() => setEdited(null)}
          />
        )}
        {deleted !== null && (
          <ConfirmDialog
            title="Delete this notification?"
            action="Delete notification"
            done="The notification is deleted"
            onConfirm={() => deleteNotification(ref, deleted.id)}
            onClose={() => setDeleted(null)}
          >
            <p>
              {titleOf(deleted)} to {deleted.destination} stops. Messages that are not delivered yet are
              deleted, too.
            </p>
          </ConfirmDialog>
        )}
      </Suspense>
    </Section>
  );
}
