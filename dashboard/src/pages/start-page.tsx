/** Where one begins: at the project that was looked at last, or at what is missing before there can be one. */
import { Redirect } from 'wouter';
import type { Organization } from '../api/types.js';
import { PageLoading } from '../frame/page-boundary.js';
import { Failure } from '../parts/notice.js';
import { Page } from '../parts/page.js';
import { mayEdit, projectPage, useFirstProject, useOrganization } from '../state/place.js';

export function StartPage() {
  const organization = useOrganization();
  if (organization === null)
    return (
      <Page
        title="No organization yet"
        lead="You belong to no organization. Ask an owner of yours to invite you, then open the link they send."
        isNarrow
      >
        {null}
      </Page>
    );
  return <FirstProject organization={organization} />;
}

function FirstProject({ organization }: { organization: Organization }) {
  const { found, isLoading, error } = useFirstProject(organization);
  if (found !== null) return <Redirect to={projectPage(found.id)} replace />;
  if (isLoading) return <PageLoading />;
  if (error !== null) return <Failure error={error} what="The projects could not be read." />;
  if (mayEdit(organization.role)) return <Redirect to="/new-project" replace />;
  return (
    <Page
      title="No projects yet"
      lead={`${organization.name} has no projects, and a viewer cannot make one. Ask an owner or editor.`}
      isNarrow
    >
      {null}
    </Page>
  );
}
