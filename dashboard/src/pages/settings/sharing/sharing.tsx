/** The public, read-only links of a project. */
import { useQuery } from '@tanstack/react-query';
import { Link2 } from 'lucide-react';
import { useState } from 'react';
import { useSession } from '../../../api/session.js';
import { revokeShareLink, shareLinksQuery } from '../../../api/share-links.js';
import type { ShareLink } from '../../../api/types.js';
import { DocsLink } from '../../../components/content/docs-link.js';
import { Section } from '../../../components/content/page.js';
import { Loaded } from '../../../components/feedback/loaded.js';
import { Button } from '../../../components/forms/button.js';
import { ConfirmDialog } from '../../../components/overlays/confirm-dialog.js';
import type { CurrentProject } from '../../../navigation/current-project.js';
import { lazyPart } from '../../../navigation/lazy-code.js';
import { ShareLinksList } from './share-links-list.js';

const NewShareLinkDialog = lazyPart(() => import('./new-share-link-dialog.js'), 'NewShareLinkDialog');

export function Sharing({ organization, project }: CurrentProject) {
  const ref = { organizationId: organization.id, projectId: project.id };
  const query = useQuery(shareLinksQuery(ref));
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
      <Loaded query={query} what="The share links" rows={1}>
        {({ links }) =>
          links.length === 0 ? (
            <p className="quiet">This project has no share links.</p>
          ) : (
            <ShareLinksList links={links} onRevoke={setRevoked} />
          )
        }
      </Loaded>
      {rule === 'none' ? (
        <p className="quiet">This server serves no share links.</p>
      ) : (
        <div className="row">
          <Button icon={Link2} onClick={() => setCreating(true)}>
            Create share link…
          </Button>
        </div>
      )}
      {isCreating && <NewShareLinkDialog project={project} counts={ref} onClose={() => setCreating(false)} />}
      {revoked !== null && (
        <ConfirmDialog
          title={`Revoke ${revoked.name}?`}
          action="Revoke link"
          done={`${revoked.name} is revoked`}
          onConfirm={() => revokeShareLink(ref, revoked.id)}
          onClose={() => setRevoked(null)}
        >
          <p>
            The link stops working at once, also in spreadsheets and in pages that embed it. A revoked link
            never works again.
          </p>
        </ConfirmDialog>
      )}
    </Section>
  );
}
