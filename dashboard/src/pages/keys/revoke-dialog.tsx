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

/** What stops with a key, for the name of its project. */
const USES: Readonly<Record<Key['type'], (project: string) => string>> = {
  recording: (project) => `records queries into ${project} with this key`,
  reading: (project) => `reads ${project} with this key`,
  admin: () => 'reads or records with this admin key, in any project of the organization,',
};

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
        Whatever {USES[apiKey.type](apiKey.project ?? 'the project')} is refused from its next request on. A
        revoked key never works again.
      </p>
      <p>
        {apiKey.lastUsedAt === null
          ? 'It was never used.'
          : `It was last used ${relative(Date.parse(apiKey.lastUsedAt), at)}.`}
      </p>
    </ConfirmDialog>
  );
}
