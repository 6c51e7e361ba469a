/** Sets up two-factor authentication: password, app, verification code. */
import { useState } from 'react';
import { confirmTwoFactor, startTwoFactor } from '../../api/account.js';
import { refreshSession } from '../../api/session.js';
import type { TwoFactorSetup } from '../../api/types.js';
import { Code, Copied } from '../../components/content/copy-button.js';
import { toast } from '../../components/feedback/toasts.js';
import { Check, TextField } from '../../components/forms/field.js';
import { Form, getText } from '../../components/forms/form.js';
import { Dialog } from '../../components/overlays/dialog.js';
import { getProof, ProofField, wrongPassword } from './proof.js';
import { QrCode } from './qr-code.js';
import './account.css';

export function TwoFactorStartDialog({ onClose }: { onClose: () => void }) {
  const [started, setStarted] = useState<TwoFactorSetup | null>(null);
  if (started !== null) return <Pair started={started} onClose={onClose} />;
  return (
    <Dialog title="Set up two-factor authentication" onClose={onClose}>
      <Form
        label="Set up two-factor authentication"
        messages={wrongPassword}
        onSend={async (data) => setStarted(await startTwoFactor(getProof(data)))}
        submit="Continue"
        kind="primary"
        onCancel={onClose}
      >
        <ProofField />
      </Form>
    </Dialog>
  );
}

function Pair({ started, onClose }: { started: TwoFactorSetup; onClose: () => void }) {
  const [isStored, setStored] = useState(false);
  return (
    <Dialog title="Pair your app" onClose={onClose} dismissible={false} wide>
      <p className="quiet">Scan this with your authenticator app, or type the secret into it.</p>
      <div className="pair">
        <QrCode text={started.uri} />
        <div className="stack">
          <div>
            <h3>Secret</h3>
            <Copied text={started.secret} label="Copy secret" />
          </div>
          <div>
            <h3>Backup codes</h3>
            <p className="quiet small">
              Each works once, in place of a code from the app. They are shown only now. Store them where you
              store passwords.
            </p>
          </div>
          <Code text={started.backupCodes.join('\n')} label="Copy backup codes" />
        </div>
      </div>
      <Form
        label="Pair your app"
        messages={{ 401: 'This is not the code that the app shows now. Wait for the next one and type it.' }}
        onSend={async (data) => {
          await confirmTwoFactor(getText(data, 'code').replaceAll(' ', ''));
          await refreshSession();
          onClose();
          toast('Two-factor authentication is on');
        }}
        submit="Turn on"
        kind="primary"
        disabled={!isStored}
        onCancel={onClose}
      >
        <TextField
          label="Code from the app"
          name="code"
          inputMode="numeric"
          autoComplete="one-time-code"
          mono
          required
        />
        <Check
          label="I have stored the backup codes"
          checked={isStored}
          onChange={(event) => setStored(event.target.checked)}
        />
      </Form>
    </Dialog>
  );
}
