/** The members of an organization. */

import { useQuery } from '@tanstack/react-query';
import { UserPlus } from 'lucide-react';
import { useState } from 'react';
import { roleAllows } from '../../../../src/domain/people/member.js';
import { membersQuery } from '../../api/people/members.js';
import { Page, Section } from '../../components/content/page.js';
import { Loaded } from '../../components/feedback/loaded.js';
import { Notice } from '../../components/feedback/notice.js';
import { Button } from '../../components/forms/button.js';
import { useOrganization } from '../../navigation/current-project.js';
import { lazyPart } from '../../navigation/lazy-code.js';
import { NotFoundPage } from '../not-found-page.js';
import { InvitationsTable } from './invitations-table.js';
import { LastOwnerNote } from './last-owner.js';
import { MembersTable } from './members-table.js';
import { RenameOrganization } from './rename-organization.js';
import { SecondFactorRule } from './second-factor-rule.js';

const InviteDialog = lazyPart(() => import('./invite-dialog.js'), 'InviteDialog');

export function MembersPage() {
  const organization = useOrganization();
  const [isInviting, setInviting] = useState(false);
  const query = useQuery({ ...membersQuery(organization?.id ?? ''), enabled: organization !== null });
  if (organization === null) return <NotFoundPage what="You belong to no organization." />;
  const isOwner = roleAllows(organization.role, 'owner');
  return (
    <Page
      title="Members"
      of={organization.name}
      lead="Owners do everything, editors change keys and projects, viewers look."
      actions={
        isOwner && (
          <Button kind="primary" icon={UserPlus} onClick={() => setInviting(true)}>
            Invite member
          </Button>
        )
      }
    >
      {!isOwner && <Notice>Only owners invite people and change roles.</Notice>}
      <Loaded query={query} what="The members" rows={3}>
        {({ members }) => (
          <>
            <MembersTable organization={organization} members={members} />
            {isOwner && <LastOwnerNote members={members} />}
          </>
        )}
      </Loaded>
      <Section
        title="Open invitations"
        lead="Anyone with the invitation link can accept it once, until it expires."
      >
        <InvitationsTable organization={organization} />
      </Section>
      {isOwner && <SecondFactorRule organization={organization} members={query.data?.members ?? []} />}
      {isOwner && <RenameOrganization {...organization} />}
      {isInviting && <InviteDialog organization={organization} onClose={() => setInviting(false)} />}
    </Page>
  );
}
