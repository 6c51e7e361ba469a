/** The second step of signing in. */
import { useQuery } from '@tanstack/react-query';
import { KeyRound } from 'lucide-react';
import { useState } from 'react';
import { confirmSignInWithPasskey, hasPasskeys, startSecondStep } from '../../api/people/passkeys.js';
import { confirmSignIn } from '../../api/people/sign-in.js';
import { enterSession } from '../../api/session.js';
import { Page } from '../../components/content/page.js';
import { Failure } from '../../components/feedback/notice.js';
import { LoadingRows } from '../../components/feedback/skeleton.js';
import { Button } from '../../components/forms/button.js';
import { Check, TextField } from '../../components/forms/field.js';
import { Form, getText } from '../../components/forms/form.js';

export function TwoFactorForm({ onBack }: { onBack: () => void }) {
  const { data, error } = useQuery({
    queryKey: ['second-step'],
    queryFn: startSecondStep,
    gcTime: 0,
    // It belongs to one sign-in, and each answer gives the browser another challenge.
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  const [isCode, setCode] = useState(false);
  const passkey = hasPasskeys ? (data?.passkey ?? null) : null;
  const asksPasskey = passkey !== null && !isCode;
  const back = (
    <Button kind="quiet" onClick={onBack}>
      Back
    </Button>
  );
  if (data === undefined)
    return (
      <Page title="Two-factor authentication">
        {error === null ? <LoadingRows what="Loading" rows={2} /> : <Failure error={error} />}
        <div className="row">{back}</div>
      </Page>
    );
  if (asksPasskey)
    return (
      <Page title="Two-factor authentication" lead="Confirm with your passkey that it is you.">
        <Form
          label="Two-factor authentication"
          onSend={async (form) => {
            await confirmSignInWithPasskey(passkey, form.get('trustDevice') !== null);
            await enterSession();
          }}
          submit="Use passkey"
          kind="primary"
          wide
        >
          <TrustCheck />
        </Form>
        <div className="row">
          {data.codes && (
            <Button kind="quiet" onClick={() => setCode(true)}>
              Use a code instead
            </Button>
          )}
          {back}
        </div>
      </Page>
    );
  if (!data.codes)
    return (
      <Page
        title="Two-factor authentication"
        lead="Your second factor is a passkey, which does not work in this browser or at this address. Sign in from another one, or ask your administrator to reset your second factor."
      >
        <div className="row">{back}</div>
      </Page>
    );
  return (
    <CodePage>
      {passkey !== null && (
        <Button kind="quiet" icon={KeyRound} onClick={() => setCode(false)}>
          Use a passkey instead
        </Button>
      )}
      {back}
    </CodePage>
  );
}

function CodePage({ children }: { children: React.ReactNode }) {
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
          await enterSession();
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
        <TrustCheck />
      </Form>
      <div className="row">
        <Button kind="quiet" onClick={() => setBackup(!isBackup)}>
          {isBackup ? 'Use the app instead' : 'Use a backup code'}
        </Button>
        {children}
      </div>
    </Page>
  );
}

function TrustCheck() {
  return (
    <Check
      label="Trust this device"
      hint="Do not ask for a second factor here for 30 days."
      name="trustDevice"
    />
  );
}
