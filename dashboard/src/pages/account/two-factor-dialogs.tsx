/** Sets up two-factor authentication: password, backup codes, app. And turns it off. */
import { Download } from 'lucide-react';
import { useState } from 'react';
import { confirmTwoFactor, startTwoFactor, stopTwoFactor } from '../../api/people/account.js';
import { refreshSession } from '../../api/session.js';
import type { TwoFactorSetup } from '../../api/types.js';
import { Code, Copied } from '../../components/content/copy-button.js';
import { Button } from '../../components/forms/button.js';
import { Check, TextField } from '../../components/forms/field.js';
import { getText } from '../../components/forms/form.js';
import { FormDialog } from '../../components/overlays/form-dialog.js';
import { saveFile } from '../../format/save-file.js';
import { getProof, ProofFields } from './proof.js';
import { QrCode } from './qr-code.js';
import './account.css';

export function TwoFactorStartDialog({ onClose }: { onClose: () => void }) {
  const [started, setStarted] = useState<TwoFactorSetup | null>(null);
  if (started !== null) return <Steps started={started} onClose={onClose} />;
  return (
    <FormDialog
      title="Set up two-factor authentication"
      onSend={async (data) => setStarted(await startTwoFactor(await getProof(data)))}
      submit="Continue"
      onClose={onClose}
    >
      <ProofFields />
    </FormDialog>
  );
}

interface StepProps {
  readonly started: TwoFactorSetup;
  readonly onClose: () => void;
}

/** First the backup codes, then the app: nothing is on before the codes are stored. */
function Steps(props: StepProps) {
  const [isStored, setStored] = useState(false);
  return isStored ? <Pair {...props} /> : <BackupCodes {...props} onStored={() => setStored(true)} />;
}

function BackupCodes({ started, onClose, onStored }: StepProps & { readonly onStored: () => void }) {
  const text = started.backupCodes.join('\n');
  const save = (): void => {
    saveFile('caller-stats-backup-codes.txt', new Blob([`${text}\n`], { type: 'text/plain' }));
  };
  return (
    <FormDialog
      title="Step 1 of 2: Store the backup codes"
      dismissible={false}
      lead={
        <>
          <p>
            Each works once, in place of a code from the app. They are shown only now. Store them where you
            store passwords.
          </p>
          <Code text={text} label="Copy backup codes" />
          <div className="row">
            <Button icon={Download} onClick={save}>
              Download codes
            </Button>
          </div>
        </>
      }
      onSend={async () => onStored()}
      submit="Continue"
      onClose={onClose}
    >
      <Check label="I have stored the backup codes" required />
    </FormDialog>
  );
}

function Pair({ started, onClose }: StepProps) {
  return (
    <FormDialog
      title="Step 2 of 2: Pair your app"
      dismissible={false}
      wide
      lead={
        <>
          <p>Scan this with your authenticator app, or type the secret into it.</p>
          <div className="pair">
            <QrCode text={started.uri} />
            <div>
              <h3>Secret</h3>
              <Copied text={started.secret} label="Copy secret" />
            </div>
          </div>
        </>
      }
      messages={{ 401: 'This is not the code that the app shows now. Wait for the next one and type it.' }}
      onSend={async (data) => {
        await confirmTwoFactor(getText(data, 'code').replaceAll(' ', ''));
        await refreshSession();
      }}
      done="Two-factor authentication is on"
      submit="Turn on"
      onClose={onClose}
    >
      <TextField
        label="Code from the app"
        name="code"
        inputMode="numeric"
        autoComplete="one-time-code"
        mono
        required
      />
    </FormDialog>
  );
}

export function TwoFactorStopDialog({ onClose }: { onClose: () => void }) {
  return (
    <FormDialog
      title="Turn off two-factor authentication?"
      lead={
        <p>
          The codes of the app and the backup codes stop working. Without a passkey, your password alone is
          enough to sign in.
        </p>
      }
      onSend={async (data) => {
        await stopTwoFactor(await getProof(data));
        await refreshSession();
      }}
      done="Two-factor authentication is off"
      submit="Turn off"
      kind="danger"
      onClose={onClose}
    >
      <ProofFields />
    </FormDialog>
  );
}
