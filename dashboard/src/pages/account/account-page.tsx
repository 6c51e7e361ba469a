/** The user's own account. */

import { rename } from '../../api/people/account.js';
import { refreshSession, useUser } from '../../api/session.js';
import { Page, Section } from '../../components/content/page.js';
import { NameField } from '../../components/forms/field.js';
import { Form, getText } from '../../components/forms/form.js';
import { ConnectedApplications } from './connected-applications.js';
import { Organizations } from './organizations.js';
import { Passkeys } from './passkeys.js';
import { Password } from './password.js';
import { Sessions } from './sessions.js';
import { TrustedDevices } from './trusted-devices.js';
import { TwoFactorSection } from './two-factor.js';

export function AccountPage() {
  const user = useUser();
  return (
    <Page title="Your account" lead={user.email} isNarrow>
      <Section title="Name">
        <Form
          label="Name"
          onSend={async (data) => {
            await rename(getText(data, 'name'));
            await refreshSession();
          }}
          done="Your name is saved"
          submit="Save name"
          needsChange
        >
          <NameField label="Your name" defaultValue={user.name} autoComplete="name" />
        </Form>
      </Section>
      <Password />
      <Passkeys />
      <TwoFactorSection />
      {user.secondFactor && <TrustedDevices />}
      <Sessions />
      <ConnectedApplications />
      <Organizations />
    </Page>
  );
}
