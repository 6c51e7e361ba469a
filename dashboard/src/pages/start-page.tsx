/** Where one begins: at the project that was looked at last, or at what is missing before there can be one. */
import { Redirect } from 'wouter';
import { useSession } from '../api/session.js';
import type { Organization } from '../api/types.js';
import { projectPage } from '../frame/navigation.js';
import { PageLoading } from '../frame/page-boundary.js';
import { SignFrame } from '../frame/sign-frame.js';
import { Failure } from '../parts/notice.js';
import { Page } from '../parts/page.js';
import { mayEdit, useFirstProject, useOrganization } from '../state/place.js';

export function StartPage() {
  const { setUp } = useSession();
  const organization = useOrganization();
  if (setUp) return <SetUpNeeded />;
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

/** Nobody can sign in yet. Who runs the server can see its output, and that proves who they are. */
function SetUpNeeded() {
  return (
    <SignFrame>
      <Page title="Set up this server">
        <p className="quiet">
          Nobody can sign in here yet. When the server started, it printed a one-time address for making the
          first account. Look for this line in its output, and open the address:
        </p>
        <p className="copied">
          <code>{location.origin}/set-up#…</code>
        </p>
        <p className="quiet">
          It stands in the terminal that the server runs in, or in the log of its service or container. Is it
          gone? Start the server again: it prints a new one for as long as nobody has an account.
        </p>
      </Page>
    </SignFrame>
  );
}
