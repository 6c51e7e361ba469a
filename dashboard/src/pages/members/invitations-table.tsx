/** The table of open invitations. */

import { useQuery } from '@tanstack/react-query';
import { RefreshCw, X } from 'lucide-react';
import { useState } from 'react';
import { roleAllows } from '../../../../src/domain/people/member.js';
import { invitationsQuery, invite, withdrawInvitation } from '../../api/people/members.js';
import type { CreatedInvitation, Invitation, Organization } from '../../api/types.js';
import { type Column, Table } from '../../components/content/table.js';
import { Time } from '../../components/content/time.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { Loaded } from '../../components/feedback/loaded.js';
import { IconButton } from '../../components/forms/button.js';
import { useAction } from '../../components/forms/use-action.js';
import { lazyPart } from '../../navigation/lazy-code.js';
import { rightsName } from './roles.js';

const InvitationLink = lazyPart(() => import('./invitation-link.js'), 'InvitationLink');

export function InvitationsTable({ organization }: { organization: Organization }) {
  const query = useQuery(invitationsQuery(organization.id));
  // Here, because the renewed invitation has another id, so its old row is gone.
  const [renewed, setRenewed] = useState<CreatedInvitation | null>(null);
  const columns: Column<Invitation>[] = [
    { head: 'E-mail', kind: 'name', cell: ({ email }) => email },
    { head: 'Role', cell: rightsName },
    { head: 'Invited by', cell: ({ createdBy }) => createdBy },
    { head: 'Expires', cell: ({ expiresAt }) => <Time at={expiresAt} /> },
  ];
  const actions: Column<Invitation> = {
    head: 'Actions',
    kind: 'actions',
    cell: (invitation) => (
      <>
        <Renew organization={organization} invitation={invitation} onRenewed={setRenewed} />
        <Withdraw organization={organization} invitation={invitation} />
      </>
    ),
  };
  return (
    <Loaded query={query} what="The invitations" rows={1}>
      {({ invitations }) => (
        <div className="card">
          {invitations.length === 0 ? (
            <EmptyState title="No open invitations" />
          ) : (
            <Table
              caption="Open invitations"
              columns={roleAllows(organization.role, 'owner') ? [...columns, actions] : columns}
              rows={invitations}
              rowKey={({ id }) => id}
            />
          )}
          {renewed !== null && (
            <InvitationLink title="Invitation renewed" invited={renewed} onClose={() => setRenewed(null)} />
          )}
        </div>
      )}
    </Loaded>
  );
}

interface RowProps {
  readonly organization: Organization;
  readonly invitation: Invitation;
}

interface RenewProps extends RowProps {
  readonly onRenewed: (invited: CreatedInvitation) => void;
}

/** Creates an invitation for the same address and role, which replaces this one and its link. */
function Renew({ organization, invitation: { email, role, projects }, onRenewed }: RenewProps) {
  const { run, isBusy } = useAction();
  // Invitations without an address are the links of a first set-up, which no list has.
  if (email === null) return null;
  return (
    <IconButton
      icon={RefreshCw}
      label={`Renew the invitation of ${email}`}
      disabled={isBusy}
      onClick={() =>
        run(
          async () =>
            onRenewed(await invite(organization.id, email, { role, ...(projects && { projects }) })),
          `The invitation of ${email} has a new link`,
        )
      }
    />
  );
}

function Withdraw({ organization, invitation }: RowProps) {
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
