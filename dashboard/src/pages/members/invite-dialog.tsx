/** Invites a member and shows the link once. */
import { useState } from 'react';
import { invite } from '../../api/people/members.js';
import type { Organization, Role } from '../../api/types.js';
import { CopyButton } from '../../components/content/copy-button.js';
import { Notice } from '../../components/feedback/notice.js';
import { Button } from '../../components/forms/button.js';
import { SelectField, TextField } from '../../components/forms/field.js';
import { Form, getText } from '../../components/forms/form.js';
import { Dialog, DialogButtons } from '../../components/overlays/dialog.js';
import { moment } from '../../format/dates.js';
import { serverUrl } from '../../navigation/base-path.js';
import { browserZone } from '../../time/zone.js';
import { ROLES } from './roles.js';

interface InviteDialogProps {
  readonly organization: Organization;
  readonly onClose: () => void;
}

type Invited = Awaited<ReturnType<typeof invite>>;

export function InviteDialog({ organization, onClose }: InviteDialogProps) {
  const [invited, setInvited] = useState<Invited | null>(null);
  const [role, setRole] = useState<Role>('viewer');
  if (invited !== null) return <LinkDialog invited={invited} onClose={onClose} />;
  return (
    <Dialog title={`Invite a member to ${organization.name}`} onClose={onClose}>
      <Form
        label="Invite"
        onSend={async (data) => setInvited(await invite(organization.id, getText(data, 'email'), role))}
        submit="Create invitation"
        kind="primary"
        onCancel={onClose}
      >
        <TextField label="E-mail" name="email" type="email" autoComplete="off" required />
        <SelectField
          label="Role"
          name="role"
          value={role}
          onChange={(event) => setRole(ROLES.find((one) => one.role === event.target.value)?.role ?? role)}
          hint={ROLES.find((one) => one.role === role)?.may}
        >
          {ROLES.map((one) => (
            <option key={one.role} value={one.role}>
              {one.name}
            </option>
          ))}
        </SelectField>
        <p className="quiet small">No e-mail is sent: you get a link, and send it yourself.</p>
      </Form>
    </Dialog>
  );
}

interface LinkDialogProps {
  readonly invited: Invited;
  readonly title?: string;
  readonly onClose: () => void;
}

/** Shows the link of an invitation that was just created or renewed. */
export function LinkDialog({
  invited: { invitation, token },
  title = 'Invitation created',
  onClose,
}: LinkDialogProps) {
  const link = `${serverUrl()}/join#${token}`;
  return (
    <Dialog title={title} onClose={onClose} dismissible={false}>
      <Notice kind="warn">
        This is the only time the link is shown. Send it only to {invitation.email}.
      </Notice>
      <div className="link-once">
        <code>{link}</code>
      </div>
      <p className="quiet small">
        It works once, until {moment(Date.parse(invitation.expiresAt), browserZone())}.
      </p>
      <DialogButtons>
        <Button onClick={onClose}>Done</Button>
        <CopyButton text={link} label="Copy link" kind="primary" />
      </DialogButtons>
    </Dialog>
  );
}
