/** Turns two-factor authentication off. */
import { stopTwoFactor } from '../../api/account.js';
import { refreshSession } from '../../api/session.js';
import { toast } from '../../components/feedback/toasts.js';
import { Form, getPassword } from '../../components/forms/form.js';
import { CurrentPassword } from '../../components/forms/passwords.js';
import { Dialog } from '../../components/overlays/dialog.js';

export function TwoFactorStopDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Turn off two-factor authentication?" onClose={onClose}>
      <p className="quiet">
        From then on your password alone is enough to sign in. The backup codes stop working.
      </p>
      <Form
        label="Turn off two-factor authentication"
        messages={{ 401: 'The password is not right.' }}
        onSend={async (data) => {
          await stopTwoFactor(getPassword(data, 'password'));
          await refreshSession();
          onClose();
          toast('Two-factor authentication is off');
        }}
        submit="Turn off"
        kind="danger"
        onCancel={onClose}
      >
        <CurrentPassword />
      </Form>
    </Dialog>
  );
}
