/** Creates the first account, with the one-time link that the server printed. */
import { useState } from 'react';
import { useLocation } from 'wouter';
import { ApiError } from '../api/client.js';
import { setUp } from '../api/people/sign-in.js';
import { enterSession, useSession } from '../api/session.js';
import { Page } from '../components/content/page.js';
import { NameField, TextField } from '../components/forms/field.js';
import { Form, getPassword, getText } from '../components/forms/form.js';
import { NewPassword } from '../components/forms/passwords.js';
import { SignInLayout } from '../layout/sign-in-layout.js';
import { useToken } from '../navigation/token.js';
import { DeadLink } from './dead-link.js';

export function SetUpPage() {
  const token = useToken('/set-up');
  const [dead, setDead] = useState<string | null>(null);
  const session = useSession();
  // The state when the page was opened: creating the account ends set-up.
  const [isOpen] = useState(session.setUp);
  const [, navigate] = useLocation();

  if (token === null || token === dead || !isOpen)
    return (
      <SignInLayout>
        <DeadLink title="This address does not work">
          {token === null
            ? 'The part after the # is missing. Copy the whole address that the server printed.'
            : 'It was already used or has expired. If there is no account yet, restart the server: it prints a new address.'}
        </DeadLink>
      </SignInLayout>
    );
  return (
    <SignInLayout>
      <Page title="Create your account" lead="You will be the owner of this server’s first organization.">
        <Form
          label="Create your account"
          onSend={async (data) => {
            const account = {
              organization: getText(data, 'organization'),
              name: getText(data, 'name'),
              email: getText(data, 'email'),
              password: getPassword(data, 'password'),
            };
            try {
              await setUp(token, account);
            } catch (error) {
              if (error instanceof ApiError && error.status === 404) setDead(token);
              throw error;
            }
            await enterSession();
            navigate('/', { replace: true });
          }}
          submit="Create account"
          kind="primary"
          wide
        >
          <NameField
            label="Organization"
            name="organization"
            autoComplete="organization"
            hint="The name of your company or team, for the people you invite. You can change it later."
          />
          <NameField autoComplete="name" />
          <TextField label="E-mail" name="email" type="email" autoComplete="username" required />
          <NewPassword />
        </Form>
      </Page>
    </SignInLayout>
  );
}
