/** Replaces a key with a new one; both work during a grace period. */
import { useState } from 'react';
import { rotateKey } from '../../api/keys.js';
import { useSession } from '../../api/session.js';
import type { Key, KeyWithSecret } from '../../api/types.js';
import { Button } from '../../components/forms/button.js';
import { SelectField } from '../../components/forms/field.js';
import { Form, textOf } from '../../components/forms/form.js';
import { Dialog, DialogButtons } from '../../components/overlays/dialog.js';
import { SecretDialog } from './secret-dialog.js';

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
  const [made, setMade] = useState<KeyWithSecret | null>(null);
  if (made !== null) return <SecretDialog made={made} title="The new key" onClose={onClose} />;
  return (
    <Dialog title={`Rotate ${apiKey.name}`} onClose={onClose}>
      <p className="quiet">
        A new key takes the place of <code>{`${apiKey.start}…${apiKey.end}`}</code>, with the same type,
        scopes and addresses. Both work until the grace period is over.
      </p>
      <Form
        label="Rotate"
        onSend={async (data) =>
          setMade(await rotateKey(organizationId, apiKey.id, Number(textOf(data, 'graceHours'))))
        }
      >
        {(isBusy) => (
          <>
            <SelectField
              label="Grace period"
              name="graceHours"
              defaultValue={24}
              hint="Time to put the new key wherever the old one is used."
            >
              {GRACE.filter(({ hours }) => hours <= rules.graceDaysMax * 24).map(({ hours, label }) => (
                <option key={hours} value={hours}>
                  {label}
                </option>
              ))}
            </SelectField>
            <DialogButtons>
              <Button onClick={onClose}>Cancel</Button>
              <Button type="submit" kind="primary" busy={isBusy}>
                Rotate key
              </Button>
            </DialogButtons>
          </>
        )}
      </Form>
    </Dialog>
  );
}
