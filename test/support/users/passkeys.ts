/** Passkeys of the users of a service. */
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server';
import { type Browser, PASSWORD } from '../http/dashboard.js';
import type { Service } from '../http/http.js';
import type { Answer } from '../http/http-checks.js';
import { SoftwareAuthenticator } from './software-authenticator.js';

/** A device whose browser shows the pages of the service. */
export function deviceOf({ pageOrigin }: Pick<Service, 'pageOrigin'>): SoftwareAuthenticator {
  return new SoftwareAuthenticator(new URL(pageOrigin).origin);
}

/** What a user with this passkey proves again who they are with. */
export async function provePasskey(browser: Browser, device: SoftwareAuthenticator) {
  const path = '/api/account/passkeys/challenge';
  const options = await browser.ask<PublicKeyCredentialRequestOptionsJSON>({ path, body: {} });
  return { password: PASSWORD, passkey: device.get(options) };
}

/** Adds a passkey to the account of a signed-in browser. */
export async function addPasskey(
  browser: Browser,
  device: SoftwareAuthenticator,
  name = 'Laptop',
  proof: object = { password: PASSWORD },
): Promise<Answer> {
  const path = '/api/account/passkeys';
  const options = await browser.ask<PublicKeyCredentialCreationOptionsJSON>({
    path: `${path}/start`,
    body: proof,
  });
  return browser.send({ path, body: { name, response: device.create(options) } });
}
