/** Sets up two-factor authentication: password, app, verification code. */
import { useState } from 'react';
import { confirmSecondFactor, startSecondFactor } from '../../api/account.js';
import { refreshSession } from '../../api/session.js';
import type { TwoFactorSetup } from '../../api/types.js';
import { Code, Copied } from '../../components/content/copy-button.js';
import { toast } from '../../components/feedback/toasts.js';
import { Button } from '../../components/forms/button.js';
import { Check, TextField } from '../../components/forms/field.js';
import { Form, secretOf, textOf } from '../../components/forms/form.js';
import { Dialog, DialogButtons } from '../../components/overlays/dialog.js';
import { QrCode } from './qr-code.js';
import './account.css';

export function SecondFactorStartDialog({ onClose }: { onClose: () => void }) {
  const [started, setStarted] = useState<TwoFactorSetup | null>(null);
  if (started !== null) return <Pair started={started} onClose={onClose} />;
  return (
    <Dialog title="Set up two-factor authentication" onClose={onClose}>
      <Form
        label="Set up two-factor authentication"
        messages={{ 401: 'The password is not right.' }}
        onSend={async (data) => setStarted(await startSecondFactor(secretOf(data, 'password')))}
      >
        {(isBusy) => (
          <>
            <TextField
              label="Your password"
              name="password"
              type="password"
              autoComplete="current-password"
              required
              hint="To be sure that it is you."
            />
            <DialogButtons>
              <Button onClick={onClose}>Cancel</Button>
              <Button type="submit" kind="primary" busy={isBusy}>
                Continue
              </Button>
            </DialogButtons>
          </>
        )}
      </Form>
    </Dialog>
  );
}

function Pair({ started, onClose }: { started: TwoFactorSetup; onClose: () => void }) {
  const [isKept, setKept] = useState(false);
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
              Each signs you in once when the app is not at hand. They are shown only now: keep them where you
              keep passwords.
            </p>
          </div>
          <Code text={started.backupCodes.join('\n')} label="Copy backup codes" />
        </div>
      </div>
      <Form
        label="Pair your app"
        messages={{ 401: 'This is not the code that the app shows now. Wait for the next one and type it.' }}
        onSend={async (data) => {
          await confirmSecondFactor(textOf(data, 'code').replaceAll(' ', ''));
          await refreshSession();
          onClose();
          toast('Two-factor authentication is on');
        }}
      >
        {(isBusy) => (
          <>
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
              checked={isKept}
              onChange={(event) => setKept(event.target.checked)}
            />
            <DialogButtons>
              <Button onClick={onClose}>Cancel</Button>
              <Button type="submit" kind="primary" busy={isBusy} disabled={!isKept}>
                Turn on
              </Button>
            </DialogButtons>
          </>
        )}
      </Form>
    </Dialog>
  );
}
