/** The list of notifications, with a menu of actions for each. */
import { Ellipsis } from 'lucide-react';
import { CHANNEL_FORMS } from '../../../../../src/domain/notifications/channel.js';
import { describeTrigger } from '../../../../../src/domain/notifications/notification.js';
import type { ProjectRef } from '../../../api/paths.js';
import { queryClient } from '../../../api/query-client.js';
import { Entries, Entry } from '../../../components/content/entries.js';
import { Badge } from '../../../components/feedback/badge.js';
import { toast } from '../../../components/feedback/toasts.js';
import { IconButton } from '../../../components/forms/button.js';
import { Menu } from '../../../components/overlays/menu.js';
import { type Notification, notificationsQuery, testNotification } from './api.js';

interface NotificationsListProps {
  readonly counts: ProjectRef;
  readonly notifications: readonly Notification[];
  readonly isEditor: boolean;
  readonly onChange: (notification: Notification) => void;
  readonly onDelete: (notification: Notification) => void;
}

export function NotificationsList(props: NotificationsListProps) {
  return (
    <Entries label="Notifications">
      {props.notifications.map((one) => (
        <Entry
          key={one.id}
          title={
            <>
              <strong>{titleOf(one)}</strong>{' '}
              {one.incidentAt !== null && <Badge kind="warn">Reported, not over</Badge>}
            </>
          }
          actions={props.isEditor && <Actions {...props} notification={one} />}
        >
          {CHANNEL_FORMS[one.channel].title}: {one.destination}. Time zone {one.timeZone}. Created by{' '}
          {one.createdBy}.
        </Entry>
      ))}
    </Entries>
  );
}

function Actions({
  counts,
  notification,
  onChange,
  onDelete,
}: NotificationsListProps & { readonly notification: Notification }) {
  const label = `Actions for ${titleOf(notification)} to ${notification.destination}`;
  const test = async (): Promise<void> => {
    try {
      const problem = await testNotification(counts, notification.id);
      if (problem === null) toast('The test message was accepted');
      else toast(`The test message was not accepted: ${problem}`, 'danger');
    } catch (error) {
      toast((error as Error).message, 'danger');
    }
    await queryClient.invalidateQueries(notificationsQuery(counts));
  };
  return (
    <Menu
      label={label}
      items={[
        { label: 'Send test message', onSelect: () => void test() },
        { label: 'Change…', onSelect: () => onChange(notification) },
        'line',
        { label: 'Delete…', danger: true, onSelect: () => onDelete(notification) },
      ]}
      button={(buttonProps) => <IconButton {...buttonProps} icon={Ellipsis} label={label} />}
    />
  );
}

/** `Weekly digest`. */
export function titleOf(notification: Notification): string {
  const text = describeTrigger(notification);
  return text.charAt(0).toUpperCase() + text.slice(1);
}
