/** The password with which users confirm changes of their second factors. Users of single sign-on have none. */
import { useUser } from '../../api/session.js';
import { getPassword } from '../../components/forms/form.js';
import { CurrentPassword } from '../../components/forms/passwords.js';

/** For the form that has the field. */
export const wrongPassword: Readonly<Record<number, string>> = { 401: 'The password is not right.' };

export function ProofField() {
  const { hasPassword } = useUser();
  if (hasPassword) return <CurrentPassword hint="To confirm that it is you." />;
  return (
    <p className="quiet small">You have no password, so this works for ten minutes after you sign in.</p>
  );
}

export function getProof(data: FormData): { readonly password?: string } {
  return data.has('password') ? { password: getPassword(data, 'password') } : {};
}
