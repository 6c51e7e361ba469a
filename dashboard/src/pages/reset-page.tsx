/** Sets a new password with a one-time link. */
import { useState } from 'react';
import { useLocation } from 'wouter';
import { ApiError } from '../api/client.js';
import { resetPassword } from '../api/people/sign-in.js';
import { Page } from '../components/content/page.js';
import { toast } from '../components/feedback/toasts.js';
import { Form, getPassword } from '../components/forms/form.js';
import { NewPassword } from '../components/forms/passwords.js';
import { SignInLayout } from '../layout/sign-in-layout.js';
import { useToken } from '../navigation/token.js';
import { DeadLink } from './dead-link.js';

export function ResetPage() {
  const token = useToken('/reset');
  const [dead, setDead] = useState<string | null>(null);
  const [, navigate] = useLocation();

  if (token === null || token === dead)
    return (
      <SignInLayout>
        <DeadLink title="This link does not work">
          {token === null
            ? 'The part after the # is missing. Copy the whole link that you were sent.'
            : 'It was already used or has expired. Ask for a new one where you asked for this one.'}
        </DeadLink>
      </SignInLayout>
    );
  return (
    <SignInLayout>
      <Page title="Set a new password" lead="Wherever you are signed in now, you will have to sign in again.">
        <Form
          label="Set a new password"
          onSend={async (data) => {
            try {
              await resetPassword(token, getPassword(data, 'password'));
            } catch (error) {
              if (error instanceof ApiError && error.status === 404) setDead(token);
              throw error;
            }
            toast('Your new password is set. Sign in with it.');
            navigate('/sign-in', { replace: true });
          }}
          submit="Set password"
          kind="primary"
          wide
        >
          <NewPassword label="New password" />
        </Form>
      </Page>
    </SignInLayout>
  );
}
