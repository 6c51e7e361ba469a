/** Turns the second factor off. */
import { stopSecondFactor } from '../../api/account.js';
import { refreshSession } from '../../api/session.js';
import { Button } from '../../parts/button.js';
import { Dialog, DialogButtons } from '../../parts/dialog.js';
import { TextField } from '../../parts/field.js';
import { Form, secretOf } from '../../parts/form.js';
import { toast } from '../../parts/toasts.js';

export function SecondFactorStopDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Turn off the second factor?" onClose={onClose}>
      <p className="quiet">
        From then on your password alone is enough to sign in. The backup codes stop working.
      </p>
      <Form
        label="Turn off the second factor"
        messages={{ 401: 'The password is not right.' }}
        onSend={async (data) => {
          await stopSecondFactor(secretOf(data, 'password'));
          await refreshSession();
          onClose();
          toast('The second factor is off');
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
