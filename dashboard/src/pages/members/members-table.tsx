/** The table of members. */

import { LogOut, UserMinus } from 'lucide-react';
import { useState } from 'react';
import { roleAllows } from '../../../../src/domain/people/member.js';
import { revokeKey } from '../../api/keys.js';
import { changeMember, endMemberSessions, removeMember } from '../../api/people/members.js';
import { refreshSession } from '../../api/session.js';
import type { Key, Member, Organization } from '../../api/types.js';
import { type Column, Table } from '../../components/content/table.js';
import { Badge } from '../../components/feedback/badge.js';
import { Button, IconButton } from '../../components/forms/button.js';
import { useAction } from '../../components/forms/use-action.js';
import { ConfirmDialog } from '../../components/overlays/confirm-dialog.js';
import { day } from '../../format/dates.js';
import { findLastOwner, LAST_OWNER } from './last-owner.js';
import { ReaderDialog } from './reader-projects.js';
import { ROLES, rightsName, roleName } from './roles.js';

interface MembersTableProps {
  readonly organization: Organization;
  readonly members: readonly Member[];
}

/** The keys that a member left behind. */
interface LeftKeys {
  readonly email: string;
  readonly keys: readonly Key[];
}

export function MembersTable({ organization, members }: MembersTableProps) {
  const isOwner = roleAllows(organization.role, 'owner');
  const lastOwner = findLastOwner(members);
  // Here, because the row of a removed member is gone.
  const [left, setLeft] = useState<LeftKeys | null>(null);
  const onLeft = (email: string, keys: readonly Key[]): void => {
    if (keys.length > 0) setLeft({ email, keys });
  };
  const columns: Column<Member>[] = [
    { head: 'Member', kind: 'name', cell: (member) => <Who member={member} /> },
    {
      head: 'Role',
      cell: (member) =>
        isOwner ? (
          <RoleSelect {...{ organization, member, onLeft }} isLastOwner={member === lastOwner} />
        ) : (
          rightsName(member)
        ),
    },
    {
      head: 'Since',
      cell: ({ createdAt }) => (
        <time dateTime={createdAt} className="nowrap">
          {day(createdAt)}
        </time>
      ),
    },
  ];
  const factor: Column<Member> = {
    head: 'Two-factor authentication',
    cell: ({ secondFactor }) => (
      <Badge kind={secondFactor === true ? 'good' : 'plain'}>{secondFactor === true ? 'On' : 'None'}</Badge>
    ),
  };
  const actions: Column<Member> = {
    head: 'Actions',
    kind: 'actions',
    cell: (member) => (
      <>
        {!member.you && <EndSessions organization={organization} member={member} />}
        <Remove {...{ organization, member, onLeft }} isLastOwner={member === lastOwner} />
      </>
    ),
  };
  return (
    <div className="card">
      <Table
        caption={`Members of ${organization.name}`}
        columns={isOwner ? [...columns, factor, actions] : columns}
        rows={members}
        rowKey={({ email }) => email}
      />
      {left !== null && <RevokeKeys {...left} organization={organization} onClose={() => setLeft(null)} />}
    </div>
  );
}

interface RevokeKeysProps extends LeftKeys {
  readonly organization: Organization;
  readonly onClose: () => void;
}

/** Offers to revoke the keys that a member left behind. */
function RevokeKeys({ organization, email, keys, onClose }: RevokeKeysProps) {
  return (
    <ConfirmDialog
      title={`Revoke the keys of ${email}?`}
      action={keys.length === 1 ? 'Revoke key' : `Revoke ${keys.length} keys`}
      done="The keys are revoked"
      onConfirm={() => Promise.all(keys.map(({ id }) => revokeKey(organization.id, id)))}
      onClose={onClose}
    >
      <p>{email} created these admin keys, which continue to work, and may know them:</p>
      <ul>
        {keys.map(({ id, name, start, end }) => (
          <li key={id}>
            {name}{' '}
            <code>
              {start}…{end}
            </code>
          </li>
        ))}
      </ul>
    </ConfirmDialog>
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

interface RowProps {
  readonly organization: Organization;
  readonly member: Member;
  /** Their role is fixed, and they cannot be removed. */
  readonly isLastOwner: boolean;
  readonly onLeft: (email: string, keys: readonly Key[]) => void;
}

function RoleSelect({ organization, member, isLastOwner, onLeft }: RowProps) {
  const { run, isBusy } = useAction();
  const [isChoosing, setChoosing] = useState(false);
  return (
    <>
      <select
        className="input input-small"
        aria-label={`Role of ${member.email}`}
        value={member.role}
        disabled={isLastOwner}
        aria-describedby={isLastOwner ? LAST_OWNER : undefined}
        aria-busy={isBusy || undefined}
        onChange={(event) => {
          const { role } = ROLES.find((one) => one.role === event.target.value) ?? member;
          if (role === 'reader') return setChoosing(true);
          run(
            async () => {
              const keys = await changeMember(organization.id, member.email, { role });
              if (!member.you) onLeft(member.email, keys);
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
      {member.role === 'reader' && (
        <Button kind="quiet" onClick={() => setChoosing(true)}>
          {member.projects?.join(', ') || 'No project'}
          <span className="out-of-sight">: change what {member.email} may read</span>
        </Button>
      )}
      {isChoosing && (
        <ReaderDialog
          {...{ organization, member }}
          onDone={(keys) => (member.you ? void refreshSession() : onLeft(member.email, keys))}
          onClose={() => setChoosing(false)}
        />
      )}
    </>
  );
}

function EndSessions({ organization, member: { email } }: Pick<RowProps, 'organization' | 'member'>) {
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <IconButton icon={LogOut} label={`End all sessions of ${email}`} onClick={() => setAsking(true)} />
      {isAsking && (
        <ConfirmDialog
          title={`End all sessions of ${email}?`}
          action="End all sessions"
          done={`${email} is signed out everywhere`}
          onConfirm={() => endMemberSessions(organization.id, email)}
          onClose={() => setAsking(false)}
        >
          <p>They have to sign in again on every device, also with their second factor.</p>
        </ConfirmDialog>
      )}
    </>
  );
}

function Remove({ organization, member, isLastOwner, onLeft }: RowProps) {
  const [isAsking, setAsking] = useState(false);
  const who = member.you ? 'yourself' : member.email;
  return (
    <>
      <IconButton
        icon={UserMinus}
        label={`Remove ${who}`}
        disabled={isLastOwner}
        aria-describedby={isLastOwner ? LAST_OWNER : undefined}
        onClick={() => setAsking(true)}
      />
      {isAsking && (
        <ConfirmDialog
          title={`Remove ${who}?`}
          action="Remove member"
          done={`${member.email} is no longer a member`}
          onConfirm={async () => {
            const keys = await removeMember(organization.id, member.email);
            if (member.you) await refreshSession();
            else onLeft(member.email, keys);
          }}
          onClose={() => setAsking(false)}
        >
          <p>
            {member.you ? 'You lose' : 'They lose'} access to {organization.name} at once, and open
            invitations that {member.you ? 'you' : 'they'} created are withdrawn. Keys that{' '}
            {member.you ? 'you' : 'they'} created continue to work until they are revoked.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}
