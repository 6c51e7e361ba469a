/** The list of share links, with a button to revoke each. */
import type { ShareLink } from '../../../api/types.js';
import { Badge } from '../../../components/feedback/badge.js';
import { Button } from '../../../components/forms/button.js';
import { day } from '../../../format/dates.js';
import { browserZone } from '../../../time/zone.js';
import '../entries.css';

interface ShareLinksListProps {
  readonly links: readonly ShareLink[];
  readonly onRevoke: (link: ShareLink) => void;
}

export function ShareLinksList({ links, onRevoke }: ShareLinksListProps) {
  return (
    <ul className="entries" aria-label="Share links">
      {links.map((link) => (
        <li key={link.id} className="entry">
          <div className="entry-about">
            <p>
              <strong>{link.name}</strong> {link.isExpired && <Badge kind="warn">Expired</Badge>}{' '}
              {link.hasPassword && <Badge>Password</Badge>}{' '}
              {link.origins.length > 0 && <Badge>Embeddable</Badge>}
            </p>
            <p className="quiet small">
              Ends with <code>{link.end}</code>. Created by {link.createdBy}. {expiryOf(link)}
            </p>
            {link.origins.length > 0 && (
              <p className="quiet small">Pages of {link.origins.join(', ')} can embed it.</p>
            )}
          </div>
          <Button kind="quiet" onClick={() => onRevoke(link)} aria-label={`Revoke ${link.name}`}>
            Revoke…
          </Button>
        </li>
      ))}
    </ul>
  );
}

function expiryOf({ expiresAt, isExpired }: ShareLink): string {
  if (expiresAt === null) return 'Does not expire.';
  const date = day(Date.parse(expiresAt), browserZone());
  return isExpired ? `Expired on ${date}.` : `Expires on ${date}.`;
}
