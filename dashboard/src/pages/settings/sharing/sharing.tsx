/** The public, read-only links of a project. */
import { useQuery } from '@tanstack/react-query';
import { Link2 } from 'lucide-react';
import { Suspense, useState } from 'react';
import { useSession } from '../../../api/session.js';
import { shareLinksQuery } from '../../../api/share-links.js';
import type { ShareLink } from '../../../api/types.js';
import { DocsLink } from '../../../components/content/docs-link.js';
import { Section } from '../../../components/content/page.js';
import { Failure } from '../../../components/feedback/notice.js';
import { LoadingRows } from '../../../components/feedback/skeleton.js';
import { Button } from '../../../components/forms/button.js';
import type { CurrentProject } from '../../../navigation/current-project.js';
import { lazyCode } from '../../../navigation/lazy-code.js';
import { ShareLinksList } from './share-links-list.js';

const NewShareLinkDialog = lazyCode(() =>
  import('./new-share-link-dialog.js').then((module) => module.NewShareLinkDialog),
);
const RevokeShareLinkDialog = lazyCode(() =>
  import('./revoke-share-link-dialog.js').then((module) => module.RevokeShareLinkDialog),
);

export function Sharing({ organization, project }: CurrentProject) {
  const ref = { organizationId: organization.id, projectId: project.id };
  const { data, error, refetch } = useQuery(shareLinksQuery(ref));
  const { shareLinks: rule } = useSession();
  const [isCreating, setCreating] = useState(false);
  const [revoked, setRevoked] = useState<ShareLink | null>(null);
  return (
    <Section
      title="Sharing"
      lead={
        <>
          Everyone who has a share link can read the counts of this project, and nothing else.{' '}
          <DocsLink page="sharing">What a share link shows</DocsLink>
        </>
      }
    >
      {data === undefined && error === null && <LoadingRows what="Loading the share links" rows={1} />}
      {data === undefined && error !== null && (
        <Failure error={error} what="The share links could not be read." onRetry={() => void refetch()} />
      )}
      {data?.links.length === 0 && <p className="quiet">This project has no share links.</p>}
      {data !== undefined && data.links.length > 0 && (
        <ShareLinksList links={data.links} onRevoke={setRevoked} />
      )}
      {rule === 'none' ? (
        <p className="quiet">This server serves no share links.</p>
      ) : (
        <div className="row">
          <Button icon={Link2} onClick={() => setCreating(true)}>
            Create share link…
          </Button>
        </div>
      )}
      <Suspense>
        {isCreating && (
          <NewShareLinkDialog project={project} counts={ref} onClose={() => setCreating(false)} />
        )}
        {revoked !== null && (
          <RevokeShareLinkDialog counts={ref} link={revoked} onClose={() => setRevoked(null)} />
        )}
      </Suspense>
    </Section>
  );
}
