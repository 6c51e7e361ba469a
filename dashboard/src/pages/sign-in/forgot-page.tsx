/** Asks for a link by e-mail that sets a new password, where the server sends e-mail. */
import { useState } from 'react';
import { Link } from 'wouter';
import { mailReset } from '../../api/people/sign-in.js';
import { useSession } from '../../api/session.js';
import { Page } from '../../components/content/page.js';
import { Notice } from '../../components/feedback/notice.js';
import { TextField } from '../../components/forms/field.js';
import { Form, getText } from '../../components/forms/form.js';
import { SignInLayout } from '../../layout/sign-in-layout.js';

export function ForgotPage() {
  const { resetMails } = useSession();
  const [mailedTo, setMailedTo] = useState<string | null>(null);
  return (
    <SignInLayout>
      <Page title="Forgot your password" lead={resetMails ? undefined : ASK}>
        {mailedTo !== null && (
          <Notice kind="good">
            If {mailedTo} has an account with a password here, a link is on its way. It works once, within an
            hour. If nothing arrives, look into the spam folder, then ask your administrator.
          </Notice>
        )}
        {resetMails && (
          <Form
            label="Forgot your password"
            onSend={async (data) => {
              const email = getText(data, 'email');
              await mailReset(email);
              setMailedTo(email);
            }}
            submit="Send a link"
            kind="primary"
            wide
          >
            <TextField
              label="E-mail"
              name="email"
              type="email"
              autoComplete="username"
              hint="You get a link that sets a new password. Two-factor authentication stays on."
              required
            />
          </Form>
        )}
        <p className="quiet small">
          <Link href="/sign-in">Back to signing in</Link>
        </p>
      </Page>
    </SignInLayout>
  );
}

const ASK = 'This server sends no links by e-mail. Your administrator can create one.';
