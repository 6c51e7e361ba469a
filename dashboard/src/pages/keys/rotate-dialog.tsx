/** Replaces a key with a new one; both work during a grace period. */
import { useState } from 'react';
import { rotateKey } from '../../api/keys.js';
import { useSession } from '../../api/session.js';
import type { Key, KeyWithSecret } from '../../api/types.js';
import { SelectField } from '../../components/forms/field.js';
import { getText } from '../../components/forms/form.js';
import { FormDialog } from '../../components/overlays/form-dialog.js';
import { NewSecret } from './new-secret.js';

interface RotateDialogProps {
  readonly organizationId: string;
  readonly apiKey: Key;
  readonly onClose: () => void;
}

const GRACE = [
  { hours: 0, label: 'None: the old key ends at once' },
  { hours: 1, label: '1 hour' },
  { hours: 24, label: '1 day' },
  { hours: 7 * 24, label: '7 days' },
  { hours: 30 * 24, label: '30 days' },
] as const;

export function RotateDialog({ organizationId, apiKey, onClose }: RotateDialogProps) {
  const { keys: rules } = useSession();
  const [created, setCreated] = useState<KeyWithSecret | null>(null);
  if (created !== null) return <NewSecret created={created} title="The new key" onClose={onClose} />;
  return (
    <FormDialog
      title={`Rotate ${apiKey.name}`}
      lead={
        <p>
          A new key takes the place of <code>{`${apiKey.start}…${apiKey.end}`}</code>, with the same type,
          scopes and addresses. Both work until the grace period is over.
        </p>
      }
      onSend={async (data) =>
        setCreated(await rotateKey(organizationId, apiKey.id, Number(getText(data, 'graceHours'))))
      }
      submit="Rotate key"
      onClose={onClose}
    >
      <SelectField
        label="Grace period"
        name="graceHours"
        defaultValue={24}
        hint="The old key works for this long, so that you can replace it everywhere."
      >
        {GRACE.filter(({ hours }) => hours <= rules.graceDaysMax * 24).map(({ hours, label }) => (
          <option key={hours} value={hours}>
            {label}
          </option>
        ))}
      </SelectField>
    </FormDialog>
  );
}
