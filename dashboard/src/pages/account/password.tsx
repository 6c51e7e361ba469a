/** Changes the password. */
import { useState } from 'react';
import { changePassword, sessionsQuery } from '../../api/people/account.js';
import { queryClient } from '../../api/query-client.js';
import { useUser } from '../../api/session.js';
import { Section } from '../../components/content/page.js';
import { Form, getPassword } from '../../components/forms/form.js';
import { CurrentPassword, NewPassword } from '../../components/forms/passwords.js';
import { getProof, SecondFactorField } from './proof.js';

export function Password() {
  const { hasPassword } = useUser();
  const [round, setRound] = useState(0);
  if (!hasPassword)
    return (
      <Section
        title="Password"
        lead="You sign in through single sign-on, so there is no password to change here."
      >
        {null}
      </Section>
    );
  return (
    <Section title="Password" lead="A new password ends all your other sessions.">
      <Form
        key={round}
        label="Password"
        onSend={async (data) => {
          await changePassword(await getProof(data), getPassword(data, 'newPassword'));
          await queryClient.invalidateQueries(sessionsQuery);
          setRound(round + 1);
        }}
        done="Your password is changed. All other sessions are ended."
        submit="Change password"
      >
        <CurrentPassword label="Current password" />
        <NewPassword label="New password" name="newPassword" />
        <SecondFactorField />
      </Form>
    </Section>
  );
}
