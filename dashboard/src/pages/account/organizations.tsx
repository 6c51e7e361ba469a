/** The organizations of the user: invitations to answer, and leaving. */
import { useState } from 'react';
import { answerInvitation, leaveOrganization } from '../../api/people/account.js';
import { refreshSession, useSession } from '../../api/session.js';
import type { Offer, Organization } from '../../api/types.js';
import { Entries, Entry } from '../../components/content/entries.js';
import { Section } from '../../components/content/page.js';
import { Button } from '../../components/forms/button.js';
import { useAction } from '../../components/forms/use-action.js';
import { ConfirmDialog } from '../../components/overlays/confirm-dialog.js';
import { moment } from '../../format/dates.js';
import { roleName } from '../members/roles.js';

export function Organizations() {
  const { organizations } = useSession();
  const [leaving, setLeaving] = useState<Organization | null>(null);
  return (
    <>
      <Offers />
      {organizations.length > 0 && (
        <Section title="Organizations">
          <Entries label="Organizations">
            {organizations.map((one) => (
              <Entry
                key={one.id}
                title={one.name}
                actions={
                  <Button kind="quiet" onClick={() => setLeaving(one)}>
                    Leave…<span className="out-of-sight"> {one.name}</span>
                  </Button>
                }
              >
                {roleName(one.role)}
              </Entry>
            ))}
          </Entries>
        </Section>
      )}
      {leaving !== null && (
        <ConfirmDialog
          title={`Leave ${leaving.name}?`}
          action="Leave"
          done={`You left ${leaving.name}`}
          onConfirm={async () => {
            await leaveOrganization(leaving.id);
            await refreshSession();
          }}
          onClose={() => setLeaving(null)}
        >
          <p>
            You lose access at once. Only an owner can invite you again. Keys that you created continue to
            work.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}

/** The invitations that wait for the user's answer; nothing if there are none. */
export function Offers() {
  const { invitations } = useSession();
  const { run, isBusy } = useAction();
  const answer = (offer: Offer, how: 'accept' | 'decline'): void =>
    run(
      async () => {
        await answerInvitation(offer.id, how);
        await refreshSession();
      },
      how === 'accept' ? `You joined ${offer.organization.name}` : 'The invitation is declined',
    );
  if (invitations.length === 0) return null;
  return (
    <Section
      title="Invitations"
      lead="Join only organizations that you know: their owners can end your sessions."
    >
      <Entries label="Invitations">
        {invitations.map((offer) => (
          <Entry
            key={offer.id}
            title={offer.organization.name}
            actions={
              <span className="row">
                <Button kind="quiet" busy={isBusy} onClick={() => answer(offer, 'decline')}>
                  Decline<span className="out-of-sight"> {offer.organization.name}</span>
                </Button>
                <Button busy={isBusy} onClick={() => answer(offer, 'accept')}>
                  Join<span className="out-of-sight"> {offer.organization.name}</span>
                </Button>
              </span>
            }
          >
            {roleName(offer.role)}, invited by {offer.invitedBy}, until {moment(offer.expiresAt)}
          </Entry>
        ))}
      </Entries>
    </Section>
  );
}
