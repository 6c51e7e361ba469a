/** Explains why the last owner of an organization can neither leave nor take another role. */
import type { Member } from '../../api/types.js';

/** The id of the explanation, which describes the disabled controls. */
export const LAST_OWNER = 'last-owner';

/** The only owner; undefined if there are several. */
export function findLastOwner(members: readonly Member[]): Member | undefined {
  const owners = members.filter(({ role }) => role === 'owner');
  return owners.length === 1 ? owners[0] : undefined;
}

export function LastOwnerNote({ members }: { members: readonly Member[] }) {
  const owner = findLastOwner(members);
  if (owner === undefined) return null;
  return (
    <p id={LAST_OWNER} className="quiet small">
      {owner.you ? 'You are' : `${owner.email} is`} the only owner, so {owner.you ? 'you' : 'they'} can
      neither leave nor take another role. Make another member an owner first.
    </p>
  );
}
