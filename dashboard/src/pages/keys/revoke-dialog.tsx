/** Revokes a key permanently, after a warning about the consequences. */
import { revokeKey } from '../../api/keys.js';
import type { Key } from '../../api/types.js';
import { ConfirmDialog } from '../../components/overlays/confirm-dialog.js';
import { relative } from '../../format/relative.js';
import { now } from '../../time/clock.js';
import { isBusy } from './key-order.js';

interface RevokeDialogProps {
  readonly organizationId: string;
  readonly apiKey: Key;
  readonly onClose: () => void;
}

export function RevokeDialog({ organizationId, apiKey, onClose }: RevokeDialogProps) {
  const at = now();
  return (
    <ConfirmDialog
      title={`Revoke ${apiKey.name}?`}
      action="Revoke key"
      done={`${apiKey.name} is revoked`}
      typed={isBusy(apiKey, at) ? { what: 'the key’s name', text: apiKey.name } : undefined}
      onConfirm={() => revokeKey(organizationId, apiKey.id)}
      onClose={onClose}
    >
      <p>
        {apiKey.type === 'recording'
          ? `Whatever records queries into ${apiKey.project ?? 'the project'} with this key is refused from its next request on.`
          : 'Whatever reads or records with this admin key, in any project of the organization, is refused from its next request on.'}{' '}
        A revoked key never works again.
      </p>
      <p>
        {apiKey.lastUsedAt === null
          ? 'It was never used.'
          : `It was last used ${relative(Date.parse(apiKey.lastUsedAt), at)}.`}
      </p>
    </ConfirmDialog>
  );
}
