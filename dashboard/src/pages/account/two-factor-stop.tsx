/** Turns two-factor authentication off. */
import { stopTwoFactor } from '../../api/people/account.js';
import { refreshSession } from '../../api/session.js';
import { toast } from '../../components/feedback/toasts.js';
import { Form } from '../../components/forms/form.js';
import { Dialog } from '../../components/overlays/dialog.js';
import { getProof, ProofField, wrongPassword } from './proof.js';

export function TwoFactorStopDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Turn off two-factor authentication?" onClose={onClose}>
      <p className="quiet">
        The codes of the app and the backup codes stop working. Without a passkey, your password alone is
        enough to sign in.
      </p>
      <Form
        label="Turn off two-factor authentication"
        messages={wrongPassword}
        onSend={async (data) => {
          await stopTwoFactor(getProof(data));
          await refreshSession();
          onClose();
          toast('Two-factor authentication is off');
        }}
        submit="Turn off"
        kind="danger"
        onCancel={onClose}
      >
        <ProofField />
      </Form>
    </Dialog>
  );
}
