/** The start page: redirects to the last project, or explains what is missing. */

import { Redirect } from 'wouter';
import { roleAllows } from '../../../src/domain/people/member.js';
import { useSession } from '../api/session.js';
import type { Organization } from '../api/types.js';
import { Page } from '../components/content/page.js';
import { Failure } from '../components/feedback/notice.js';
import { PageLoading } from '../layout/page-boundary.js';
import { projectPage, useFirstProject, useOrganization } from '../navigation/current-project.js';
import { Offers } from './account/organizations.js';

export function StartPage() {
  const organization = useOrganization();
  const { invitations } = useSession();
  if (organization === null)
    return (
      <Page
        title="No organization yet"
        lead={
          invitations.length > 0
            ? 'You belong to no organization. You are invited to join:'
            : 'You belong to no organization. Ask an owner of yours to invite you, then open the link they send.'
        }
        isNarrow
      >
        <Offers />
      </Page>
    );
  return <FirstProject organization={organization} />;
}

function FirstProject({ organization }: { organization: Organization }) {
  const { found, isLoading, error } = useFirstProject(organization);
  if (found !== null) return <Redirect to={projectPage(found.id)} replace />;
  if (isLoading) return <PageLoading />;
  if (error !== null) return <Failure error={error} what="The projects could not be read." />;
  if (roleAllows(organization.role, 'editor')) return <Redirect to="/new-project" replace />;
  return (
    <Page
      title="No projects yet"
      lead={`${organization.name} has no projects that you may read, and ${organization.role}s cannot create one. Ask an owner.`}
      isNarrow
    >
      {null}
    </Page>
  );
}
