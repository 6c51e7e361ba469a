/** Turns two-factor authentication off. */
import { stopSecondFactor } from '../../api/account.js';
import { refreshSession } from '../../api/session.js';
import { toast } from '../../components/feedback/toasts.js';
import { Button } from '../../components/forms/button.js';
import { TextField } from '../../components/forms/field.js';
import { Form, secretOf } from '../../components/forms/form.js';
import { Dialog, DialogButtons } from '../../components/overlays/dialog.js';

export function SecondFactorStopDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Turn off two-factor authentication?" onClose={onClose}>
      <p className="quiet">
        From then on your password alone is enough to sign in. The backup codes stop working.
      </p>
      <Form
        label="Turn off two-factor authentication"
        messages={{ 401: 'The password is not right.' }}
        onSend={async (data) => {
          await stopSecondFactor(secretOf(data, 'password'));
          await refreshSession();
          onClose();
          toast('Two-factor authentication is off');
        }}
      >
        {(isBusy) => (
          <>
            <TextField
              label="Your password"
              name="password"
              type="password"
              autoComplete="current-password"
              required
            />
            <DialogButtons>
              <Button onClick={onClose}>Cancel</Button>
              <Button type="submit" kind="danger" busy={isBusy}>
                Turn off
              </Button>
            </DialogButtons>
          </>
        )}
      </Form>
    </Dialog>
  );
}
