/** Passkeys: those of the user, and signing in with one. The browser keeps the secret and asks the user. */
import { getQuery, request } from '../client.js';
import { queryClient } from '../query-client.js';
import { refreshSession } from '../session.js';
import type { Passkey, Proof, SecondStep } from '../types.js';

export const passkeysQuery = getQuery<{ passkeys: Passkey[] }>('/api/account/passkeys');

/** Whether the browser has passkeys. Older ones lack the conversions from and to JSON. */
export const hasPasskeys =
  typeof PublicKeyCredential !== 'undefined' && 'parseCreationOptionsFromJSON' in PublicKeyCredential;

/** Whether the browser can offer passkeys in the field of the e-mail address. */
export async function offersPasskeysInFields(): Promise<boolean> {
  return hasPasskeys && (await PublicKeyCredential.isConditionalMediationAvailable?.()) === true;
}

/** What a passkey signs to prove who the signed-in user is. */
export async function askForPasskey(): Promise<unknown> {
  return sign(await request('POST', '/api/account/passkeys/challenge', {}));
}

export function startPasskey(proof: Proof): Promise<PublicKeyCredentialCreationOptionsJSON> {
  return request('POST', '/api/account/passkeys/start', proof);
}

/** Ends every other session. */
export async function addPasskey(
  options: PublicKeyCredentialCreationOptionsJSON,
  name: string,
): Promise<void> {
  const created = await answered(() =>
    navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) }),
  );
  await request('POST', '/api/account/passkeys', { name, response: created });
  await refresh();
}

export async function renamePasskey(id: string, name: string): Promise<void> {
  await request('PATCH', passkeyPath(id), { name });
  await queryClient.invalidateQueries(passkeysQuery);
}

/** Ends every other session. */
export async function removePasskey(id: string, proof: Proof): Promise<void> {
  await request('POST', `${passkeyPath(id)}/remove`, proof);
  await refresh();
}

/** With a signal, waits until the user chooses a passkey in a field. Otherwise, the browser asks at once. */
export async function signInWithPasskey(signal?: AbortSignal): Promise<void> {
  const options = await request<PublicKeyCredentialRequestOptionsJSON>(
    'POST',
    '/api/sign-in/passkey/start',
    {},
  );
  const response = await sign(options, signal);
  await request('POST', '/api/sign-in/passkey', { response });
}

/** What the second step of signing in may be answered with. */
export function startSecondStep(): Promise<SecondStep> {
  return request('POST', '/api/sign-in/second-factor/start', {});
}

export async function confirmSignInWithPasskey(
  options: NonNullable<SecondStep['passkey']>,
  trustDevice: boolean,
): Promise<void> {
  const response = await sign(options);
  await request('POST', '/api/sign-in/second-factor/passkey', { response, trustDevice });
}

function sign(options: PublicKeyCredentialRequestOptionsJSON, signal?: AbortSignal): Promise<unknown> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  return answered(() =>
    navigator.credentials.get({
      publicKey,
      ...(signal === undefined ? {} : { signal, mediation: 'conditional' }),
    }),
  );
}

/** Messages for what browsers report; most of it is that the user gave up, which they do not tell from other reasons. */
const MESSAGES: Readonly<Record<string, string>> = {
  InvalidStateError: 'This device already has a passkey of your account.',
  SecurityError: 'The browser does not allow passkeys at this address.',
};

/** The browser's answer as JSON. */
async function answered(ask: () => Promise<Credential | null>): Promise<unknown> {
  try {
    const credential = await ask();
    if (credential instanceof PublicKeyCredential) return credential.toJSON();
    throw new Error('The browser returned no passkey.');
  } catch (error) {
    if (!(error instanceof DOMException) || error.name === 'AbortError') throw error;
    throw new Error(MESSAGES[error.name] ?? 'The browser did not finish with the passkey. Try again.', {
      cause: error,
    });
  }
}

function passkeyPath(id: string): string {
  return `/api/account/passkeys/${encodeURIComponent(id)}`;
}

async function refresh(): Promise<void> {
  await refreshSession();
  await queryClient.invalidateQueries();
}
