/** Use cases of the people of an organization, for the first start, the command line and the dashboard alike. */
import type { Actor } from '../domain/people/audit.js';
import { type Invitation, newInvitation } from '../domain/people/invitation.js';
import type { Store } from '../storage/ports/store.js';

/** Stores an invitation, and gives it with the token of its link, which is stored nowhere. */
export async function inviteMember(
  { store, randomInt }: { readonly store: Store; readonly randomInt: (max: number) => number },
  wanted: Pick<Invitation, 'organizationId' | 'email' | 'role'>,
  by: Actor,
): Promise<{ readonly invitation: Invitation; readonly token: string }> {
  const invited = newInvitation(wanted, { by, randomInt });
  await store.createInvitation(invited.invitation, by);
  return invited;
}
