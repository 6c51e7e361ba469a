/** The notifications of a project: a digest, and alerts. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { roleAllows } from '../../../../../src/domain/people/member.js';
import { DocsLink } from '../../../components/content/docs-link.js';
import { Section } from '../../../components/content/page.js';
import { Loaded } from '../../../components/feedback/loaded.js';
import { Button } from '../../../components/forms/button.js';
import { ConfirmDialog } from '../../../components/overlays/confirm-dialog.js';
import type { CurrentProject } from '../../../navigation/current-project.js';
import { lazyPart } from '../../../navigation/lazy-code.js';
import { deleteNotification, type Notification, notificationsQuery } from './api.js';
import { Deliveries } from './deliveries.js';
import { NotificationsList, titleOf } from './notifications-list.js';

const NotificationDialog = lazyPart(() => import('./notification-dialog.js'), 'NotificationDialog');

export function Notifications({ organization, project }: CurrentProject) {
  const ref = { organizationId: organization.id, projectId: project.id };
  const query = useQuery(notificationsQuery(ref));
  const { data } = query;
  const [edited, setEdited] = useState<Notification | 'new' | null>(null);
  const [deleted, setDeleted] = useState<Notification | null>(null);
  return (
    <Section
      title="Digest and alerts"
      lead={
        <>
          Messages by webhook, e-mail or to a chat: a summary, nothing recorded, more or fewer queries than
          usual, many, or a new caller. <DocsLink page="alerts">What is sent and when</DocsLink>
        </>
      }
    >
      <Loaded query={query} what="The notifications" rows={1}>
        {({ notifications }) =>
          notifications.length === 0 ? (
            <p className="quiet">This project sends no messages.</p>
          ) : (
            <NotificationsList
              counts={ref}
              notifications={notifications}
              isEditor={roleAllows(organization.role, 'editor')}
              onChange={setEdited}
              onDelete={setDeleted}
            />
          )
        }
      </Loaded>
      {data !== undefined && data.deliveries.length > 0 && <Deliveries deliveries={data.deliveries} />}
      <div className="row">
        <Button onClick={() => setEdited('new')} disabled={data === undefined}>
          Add notification…
        </Button>
      </div>
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
    </Section>
  );
}
