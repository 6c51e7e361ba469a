/** The table of members. */

import { UserMinus } from 'lucide-react';
import { Suspense, useState } from 'react';
import { roleAllows } from '../../../../src/domain/people/member.js';
import { changeMember, removeMember } from '../../api/members.js';
import { refreshSession } from '../../api/session.js';
import type { Member, Organization } from '../../api/types.js';
import { type Column, Table } from '../../components/content/table.js';
import { Badge } from '../../components/feedback/badge.js';
import { IconButton } from '../../components/forms/button.js';
import { useAction } from '../../components/forms/use-action.js';
import { day } from '../../format/dates.js';
import { lazyCode } from '../../navigation/lazy-code.js';
import { browserZone } from '../../time/zone.js';
import { ROLES, roleName } from './roles.js';

const ConfirmDialog = lazyCode(() =>
  import('../../components/overlays/confirm-dialog.js').then((module) => module.ConfirmDialog),
);

interface MembersTableProps {
  readonly organization: Organization;
  readonly members: readonly Member[];
}

export function MembersTable({ organization, members }: MembersTableProps) {
  const isOwner = roleAllows(organization.role, 'owner');
  const columns: Column<Member>[] = [
    { head: 'Member', kind: 'name', cell: (member) => <Who member={member} /> },
    {
      head: 'Role',
      cell: (member) =>
        isOwner ? <RoleSelect organization={organization} member={member} /> : roleName(member.role),
    },
    {
      head: 'Since',
      cell: ({ createdAt }) => <time dateTime={createdAt}>{day(Date.parse(createdAt), browserZone())}</time>,
    },
  ];
  const actions: Column<Member> = {
    head: 'Actions',
    kind: 'actions',
    cell: (member) => <Remove organization={organization} member={member} />,
  };
  return (
    <div className="card">
      <Table
        caption={`Members of ${organization.name}`}
        columns={isOwner ? [...columns, actions] : columns}
        rows={members}
        rowKey={({ email }) => email}
      />
    </div>
  );
}

function Who({ member: { name, email, you } }: { member: Member }) {
  return (
    <span>
      {name ?? email} {you && <Badge>You</Badge>}
      {name !== null && <span className="check-hint">{email}</span>}
    </span>
  );
}

function RoleSelect({ organization, member }: { organization: Organization; member: Member }) {
  const { run, isBusy } = useAction();
  return (
    <select
      className="input input-small"
      aria-label={`Role of ${member.email}`}
      value={member.role}
      aria-busy={isBusy || undefined}
      onChange={(event) => {
        const { role } = ROLES.find((one) => one.role === event.target.value) ?? member;
        run(
          async () => {
            await changeMember(organization.id, member.email, role);
            // The session contains the user's own role.
            if (member.you) await refreshSession();
          },
          `${member.email} is now ${roleName(role).toLowerCase()}`,
        );
      }}
    >
      {ROLES.map(({ role, name }) => (
        <option key={role} value={role}>
          {name}
        </option>
      ))}
    </select>
  );
}

function Remove({ organization, member }: { organization: Organization; member: Member }) {
  const [isAsking, setAsking] = useState(false);
  const who = member.you ? 'yourself' : member.email;
  return (
    <>
      <IconButton icon={UserMinus} label={`Remove ${who}`} onClick={() => setAsking(true)} />
      {isAsking && (
        <Suspense>
          <ConfirmDialog
            title={`Remove ${who}?`}
            action="Remove member"
            done={`${member.email} is no longer a member`}
            onConfirm={async () => {
              await removeMember(organization.id, member.email);
              if (member.you) await refreshSession();
            }}
            onClose={() => setAsking(false)}
          >
            <p>
              {member.you ? 'You lose' : 'They lose'} access to {organization.name} at once. Keys that{' '}
              {member.you ? 'you' : 'they'} created continue to work: revoke those that should not.
            </p>
          </ConfirmDialog>
        </Suspense>
      )}
    </>
  );
}
