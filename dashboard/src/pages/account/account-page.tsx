/** The user's own account. */
import { rename } from '../../api/account.js';
import { refreshSession, useUser } from '../../api/session.js';
import { Button } from '../../parts/button.js';
import { TextField } from '../../parts/field.js';
import { Form, textOf } from '../../parts/form.js';
import { nameCharactersMax } from '../../parts/limits.js';
import { Page, Section } from '../../parts/page.js';
import { toast } from '../../parts/toasts.js';
import { Password } from './password.js';
import { SecondFactorSection } from './second-factor.js';
import { Sessions } from './sessions.js';

export function AccountPage() {
  const user = useUser();
  return (
    <Page title="Your account" lead={user.email} isNarrow>
      <Section title="Name">
        <Form
          label="Name"
          onSend={async (data) => {
            await rename(textOf(data, 'name'));
            await refreshSession();
            toast('Your name is saved');
          }}
        >
          {(isBusy) => (
            <>
              <TextField
                label="Your name"
                name="name"
                defaultValue={user.name}
                autoComplete="name"
                maxLength={nameCharactersMax}
                required
              />
              <div className="row">
                <Button type="submit" busy={isBusy}>
                  Save name
                </Button>
              </div>
            </>
          )}
        </Form>
      </Section>
      <Password />
      <SecondFactorSection />
      <Sessions />
    </Page>
  );
}
