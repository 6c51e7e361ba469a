/** What users confirm changes with: what signs them in. Users of single sign-on have no password. */
import { useQuery } from '@tanstack/react-query';
import { askForPasskey, hasPasskeys, passkeysQuery } from '../../api/people/passkeys.js';
import { useUser } from '../../api/session.js';
import type { Proof } from '../../api/types.js';
import { TextField } from '../../components/forms/field.js';
import { getPassword, getText } from '../../components/forms/form.js';
import { CurrentPassword } from '../../components/forms/passwords.js';

/** For what takes one factor. */
export function PasswordField() {
  const { hasPassword } = useUser();
  if (hasPassword) return <CurrentPassword hint="To confirm that it is you." />;
  return (
    <p className="quiet small">You have no password, so this works for ten minutes after you sign in.</p>
  );
}

/** For changes of what signs the user in. */
export function ProofFields() {
  return (
    <>
      <PasswordField />
      <SecondFactorField />
    </>
  );
}

export function SecondFactorField() {
  const { codes, secondFactor } = useUser();
  const { data } = useQuery(passkeysQuery);
  if (!secondFactor) return null;
  const usable = hasPasskeys && data?.passkeys.some(({ host }) => host === location.hostname) === true;
  const ask = usable && <input type="hidden" name="passkey" value="ask" />;
  if (!codes)
    return (
      <p className="quiet small">
        {ask}
        {usable
          ? 'Your browser then asks for your passkey.'
          : 'Your passkey does not work here. Change this where it does, or ask your administrator to reset your second factor.'}
      </p>
    );
  return (
    <>
      {ask}
      <TextField
        label="Code"
        name="code"
        hint={`Of your authenticator app, or a backup code.${usable ? ' Leave it empty to use a passkey.' : ''}`}
        autoComplete="one-time-code"
        spellCheck={false}
        mono
        required={!usable}
      />
    </>
  );
}

/** Asks for a passkey if the user has one here and typed no code. */
export async function getProof(data: FormData): Promise<Proof> {
  const password = data.has('password') ? { password: getPassword(data, 'password') } : {};
  const code = getText(data, 'code').replaceAll(' ', '');
  if (code !== '') return { ...password, code };
  return data.has('passkey') ? { ...password, passkey: await askForPasskey() } : password;
}
