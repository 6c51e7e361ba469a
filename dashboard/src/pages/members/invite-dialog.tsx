/** Invites a member and shows the link once. */
import { useState } from 'react';
import { invite } from '../../api/people/members.js';
import type { CreatedInvitation, Organization, Role } from '../../api/types.js';
import { SelectField, TextField } from '../../components/forms/field.js';
import { getText } from '../../components/forms/form.js';
import { FormDialog } from '../../components/overlays/form-dialog.js';
import { InvitationLink } from './invitation-link.js';
import { chosenProjects, ReaderProjects } from './reader-projects.js';
import { ROLES } from './roles.js';

interface InviteDialogProps {
  readonly organization: Organization;
  readonly onClose: () => void;
}

export function InviteDialog({ organization, onClose }: InviteDialogProps) {
  const [invited, setInvited] = useState<CreatedInvitation | null>(null);
  const [role, setRole] = useState<Role>('viewer');
  if (invited !== null) return <InvitationLink invited={invited} onClose={onClose} />;
  return (
    <FormDialog
      title={`Invite a member to ${organization.name}`}
      onSend={async (data) => {
        const rights = role === 'reader' ? { role, projects: chosenProjects(data) } : { role };
        setInvited(await invite(organization.id, getText(data, 'email'), rights));
      }}
      submit="Create invitation"
      onClose={onClose}
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
      {role === 'reader' && <ReaderProjects organization={organization} />}
      <p className="quiet small">You get a link. If the server can send e-mail, it is sent as well.</p>
    </FormDialog>
  );
}
