/** Sign-in with a password and optional two-factor authentication, or through single sign-on. */
import { useState } from 'react';
import { Link, Redirect, useSearch } from 'wouter';
import { signIn, singleSignOnPath } from '../../api/people/sign-in.js';
import { enterSession, useSession } from '../../api/session.js';
import { Page } from '../../components/content/page.js';
import { Notice } from '../../components/feedback/notice.js';
import { OutwardButton } from '../../components/forms/button.js';
import { TextField } from '../../components/forms/field.js';
import { Form, getPassword, getText } from '../../components/forms/form.js';
import { CurrentPassword } from '../../components/forms/passwords.js';
import { SignInLayout } from '../../layout/sign-in-layout.js';
import { safeDestination } from '../../navigation/destination.js';
import { PasskeyButton } from './passkey-button.js';
import { TwoFactorForm } from './two-factor.js';

/** Why single sign-on failed. */
const PROBLEMS: Readonly<Record<string, string>> = {
  not_a_member:
    'You signed in, but nobody has invited you here yet. Ask an owner of your organization for an invitation.',
  unverified_email:
    'Your provider has not verified your e-mail address. Verify it there, then sign in again.',
  linked_to_another:
    'Your account here belongs to another user of your provider with the same address. Ask your administrator to unlink it.',
  address_changed:
    'Your provider has another e-mail address of you now than your account here. Ask your administrator to unlink the account.',
  failed: 'Single sign-on failed. Try again; if it keeps failing, tell your administrator.',
};

export function SignInPage() {
  const { user, setUp, singleSignOn, resetMails } = useSession();
  const query = new URLSearchParams(useSearch());
  // After single sign-on, the page begins with the second step.
  const [isSecond, setSecond] = useState(query.has('second-factor'));
  const to = safeDestination(query.get('to'));
  const problem = query.get('problem');

  if (user !== null) return <Redirect to={to} replace />;
  if (isSecond)
    return (
      <SignInLayout>
        <TwoFactorForm onBack={() => setSecond(false)} />
      </SignInLayout>
    );
  return (
    <SignInLayout>
      <Page title="Sign in">
        {problem !== null && (
          <Notice kind="danger" alert>
            {PROBLEMS[problem] ?? PROBLEMS['failed']}
          </Notice>
        )}
        {singleSignOn && (
          <>
            <OutwardButton href={singleSignOnPath(to)} kind="plain" wide>
              Continue with single sign-on
            </OutwardButton>
            <p className="sign-or">or</p>
          </>
        )}
        <Form
          label="Sign in"
          onSend={async (data) => {
            const { secondFactor } = await signIn(getText(data, 'email'), getPassword(data, 'password'));
            if (secondFactor) setSecond(true);
            else await enterSession();
          }}
          submit="Sign in"
          kind="primary"
          wide
        >
          <TextField label="E-mail" name="email" type="email" autoComplete="username webauthn" required />
          <CurrentPassword label="Password" />
        </Form>
        <PasskeyButton />
        {setUp && (
          <p className="quiet small">
            This server has no owner yet. <Link href="/">How to create the first account</Link>
          </p>
        )}
        <p className="quiet small">
          {resetMails ? (
            <Link href="/forgot">Forgot your password?</Link>
          ) : (
            'Forgot your password? Your administrator can create a link to set a new one.'
          )}
        </p>
      </Page>
    </SignInLayout>
  );
}
