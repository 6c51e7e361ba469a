/** The second step of signing in. */
import { useState } from 'react';
import { refreshSession } from '../../api/session.js';
import { confirmSignIn } from '../../api/sign-in.js';
import { Page } from '../../components/content/page.js';
import { Button } from '../../components/forms/button.js';
import { Check, TextField } from '../../components/forms/field.js';
import { Form, getText } from '../../components/forms/form.js';

export function TwoFactorForm({ onBack }: { onBack: () => void }) {
  const [isBackup, setBackup] = useState(false);
  return (
    <Page
      title="Two-factor authentication"
      lead={
        isBackup
          ? 'Type one of the backup codes that you kept. Each works once.'
          : 'Type the six digits that your authenticator app shows.'
      }
    >
      <Form
        label="Two-factor authentication"
        onSend={async (data) => {
          await confirmSignIn(getText(data, 'code').replaceAll(' ', ''), data.get('trustDevice') !== null);
          await refreshSession();
        }}
        submit="Continue"
        kind="primary"
        wide
      >
        <TextField
          key={String(isBackup)}
          label={isBackup ? 'Backup code' : 'Code'}
          name="code"
          autoComplete="one-time-code"
          inputMode={isBackup ? 'text' : 'numeric'}
          spellCheck={false}
          mono
          required
        />
        <Check label="Trust this device" hint="Do not ask for a code here for 30 days." name="trustDevice" />
      </Form>
      <div className="row">
        <Button kind="quiet" onClick={() => setBackup(!isBackup)}>
          {isBackup ? 'Use the app instead' : 'Use a backup code'}
        </Button>
        <Button kind="quiet" onClick={onBack}>
          Back
        </Button>
      </div>
    </Page>
  );
}
