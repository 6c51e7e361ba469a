/** Revokes a share link, after a warning about the consequences. */
import { revokeShareLink } from '../../../api/share-links.js';
import type { ProjectRef } from '../../../api/stats.js';
import type { ShareLink } from '../../../api/types.js';
import { ConfirmDialog } from '../../../components/overlays/confirm-dialog.js';

interface RevokeShareLinkDialogProps {
  readonly counts: ProjectRef;
  readonly link: ShareLink;
  readonly onClose: () => void;
}

export function RevokeShareLinkDialog({ counts, link, onClose }: RevokeShareLinkDialogProps) {
  return (
    <ConfirmDialog
      title={`Revoke ${link.name}?`}
      action="Revoke link"
      done={`${link.name} is revoked`}
      onConfirm={() => revokeShareLink(counts, link.id)}
      onClose={onClose}
    >
      <p>
        The link stops working at once, also in spreadsheets and in pages that embed it. A revoked link never
        works again.
      </p>
    </ConfirmDialog>
  );
}
