/** The list of share links, with a button to revoke each. */
import type { ShareLink } from '../../../api/types.js';
import { Entries, Entry } from '../../../components/content/entries.js';
import { Badge } from '../../../components/feedback/badge.js';
import { Button } from '../../../components/forms/button.js';
import { day } from '../../../format/dates.js';

interface ShareLinksListProps {
  readonly links: readonly ShareLink[];
  readonly onRevoke: (link: ShareLink) => void;
}

export function ShareLinksList({ links, onRevoke }: ShareLinksListProps) {
  return (
    <Entries label="Share links">
      {links.map((link) => (
        <Entry
          key={link.id}
          title={
            <>
              <strong>{link.name}</strong> {link.isExpired && <Badge kind="warn">Expired</Badge>}{' '}
              {link.hasPassword && <Badge>Password</Badge>}{' '}
              {link.origins.length > 0 && <Badge>Embeddable</Badge>}
            </>
          }
          actions={
            <Button kind="quiet" onClick={() => onRevoke(link)} aria-label={`Revoke ${link.name}`}>
              Revoke…
            </Button>
          }
        >
          <p>
            Ends with <code>{link.end}</code>. Created by {link.createdBy}. {expiryOf(link)}
          </p>
          {link.origins.length > 0 && <p>Pages of {link.origins.join(', ')} can embed it.</p>}
        </Entry>
      ))}
    </Entries>
  );
}

function expiryOf({ expiresAt, isExpired }: ShareLink): string {
  if (expiresAt === null) return 'Does not expire.';
  const date = day(expiresAt);
  return isExpired ? `Expired on ${date}.` : `Expires on ${date}.`;
}
