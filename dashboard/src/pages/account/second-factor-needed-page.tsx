/** Shown until the user has the second factor that their organization requires. */
import { LogOut } from 'lucide-react';
import { useOrganizations, useUser } from '../../api/session.js';
import { Page } from '../../components/content/page.js';
import { Button } from '../../components/forms/button.js';
import { leave } from '../../layout/header/account-menu.js';
import { SignInLayout } from '../../layout/sign-in-layout.js';
import { Passkeys } from './passkeys.js';
import { TwoFactorSection } from './two-factor.js';
import './account.css';

export function SecondFactorNeededPage() {
  const { email } = useUser();
  const names = useOrganizations()
    .filter(({ locked }) => locked)
    .map(({ name }) => name);
  return (
    <SignInLayout>
      <Page
        title="Set up two-factor authentication"
        lead={`${names.join(' and ')} ${names.length === 1 ? 'requires' : 'require'} it of all members. Add a passkey or an authenticator app to continue.`}
      >
        <Passkeys />
        <TwoFactorSection />
        <p className="quiet small signed-in-as">You are signed in as {email}.</p>
        <div className="row">
          <Button icon={LogOut} onClick={() => void leave()}>
            Sign out
          </Button>
        </div>
      </Page>
    </SignInLayout>
  );
}
