/** The table of open invitations. */

import { useQuery } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { roleAllows } from '../../../../src/domain/people/member.js';
import { invitationsQuery, withdrawInvitation } from '../../api/members.js';
import type { Invitation, Organization } from '../../api/types.js';
import { type Column, Table } from '../../components/content/table.js';
import { Time } from '../../components/content/time.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { Failure } from '../../components/feedback/notice.js';
import { LoadingRows } from '../../components/feedback/skeleton.js';
import { IconButton } from '../../components/forms/button.js';
import { useAction } from '../../components/forms/use-action.js';
import { roleName } from './roles.js';

export function InvitationsTable({ organization }: { organization: Organization }) {
  const { data, error, refetch } = useQuery(invitationsQuery(organization.id));
  if (data === undefined) {
    if (error === null) return <LoadingRows what="Loading the invitations" rows={1} />;
    return <Failure error={error} what="The invitations could not be read." onRetry={() => void refetch()} />;
  }
  const columns: Column<Invitation>[] = [
    { head: 'E-mail', kind: 'name', cell: ({ email }) => email },
    { head: 'Role', cell: ({ role }) => roleName(role) },
    { head: 'Invited by', cell: ({ createdBy }) => createdBy },
    { head: 'Expires', cell: ({ expiresAt }) => <Time at={expiresAt} /> },
  ];
  const actions: Column<Invitation> = {
    head: 'Actions',
    kind: 'actions',
    cell: (invitation) => <Withdraw organization={organization} invitation={invitation} />,
  };
  return (
    <div className="card">
      {data.invitations.length === 0 ? (
        <EmptyState title="No open invitations" />
      ) : (
        <Table
          caption="Open invitations"
          columns={roleAllows(organization.role, 'owner') ? [...columns, actions] : columns}
          rows={data.invitations}
          rowKey={({ id }) => id}
        />
      )}
    </div>
  );
}

function Withdraw({ organization, invitation }: { organization: Organization; invitation: Invitation }) {
  const { run, isBusy } = useAction();
  return (
    <IconButton
      icon={X}
      label={`Withdraw the invitation of ${invitation.email}`}
      disabled={isBusy}
      onClick={() =>
        run(
          () => withdrawInvitation(organization.id, invitation.id),
          `The invitation of ${invitation.email} is withdrawn`,
        )
      }
    />
  );
}
