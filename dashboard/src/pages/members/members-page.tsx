/** The members of an organization. */

import { useQuery } from '@tanstack/react-query';
import { UserPlus } from 'lucide-react';
import { Suspense, useState } from 'react';
import { roleAllows } from '../../../../src/domain/people/member.js';
import { membersQuery } from '../../api/people/members.js';
import type { Organization } from '../../api/types.js';
import { Page, Section } from '../../components/content/page.js';
import { Failure, Notice } from '../../components/feedback/notice.js';
import { LoadingRows } from '../../components/feedback/skeleton.js';
import { Button } from '../../components/forms/button.js';
import { useOrganization } from '../../navigation/current-project.js';
import { lazyCode } from '../../navigation/lazy-code.js';
import { NotFoundPage } from '../not-found-page.js';
import { InvitationsTable } from './invitations-table.js';
import { LastOwnerNote } from './last-owner.js';
import { MembersTable } from './members-table.js';
import { RenameOrganization } from './rename-organization.js';
import { SecondFactorRule } from './second-factor-rule.js';

const InviteDialog = lazyCode(() => import('./invite-dialog.js').then((module) => module.InviteDialog));

export function MembersPage() {
  const organization = useOrganization();
  const [isInviting, setInviting] = useState(false);
  const { data } = useQuery({ ...membersQuery(organization?.id ?? ''), enabled: organization !== null });
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
      <Members organization={organization} />
      <Section
        title="Open invitations"
        lead="Anyone with the invitation link can accept it once, until it expires."
      >
        <InvitationsTable organization={organization} />
      </Section>
      {isOwner && <SecondFactorRule organization={organization} members={data?.members ?? []} />}
      {isOwner && <RenameOrganization {...organization} />}
      {isInviting && (
        <Suspense>
          <InviteDialog organization={organization} onClose={() => setInviting(false)} />
        </Suspense>
      )}
    </Page>
  );
}

function Members({ organization }: { organization: Organization }) {
  const { data, error, refetch } = useQuery(membersQuery(organization.id));
  if (data !== undefined)
    return (
      <>
        <MembersTable organization={organization} members={data.members} />
        {roleAllows(organization.role, 'owner') && <LastOwnerNote members={data.members} />}
      </>
    );
  if (error === null) return <LoadingRows what="Loading the members" rows={3} />;
  return <Failure error={error} what="The members could not be read." onRetry={() => void refetch()} />;
}
