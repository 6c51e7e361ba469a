/** Passkeys of the users of a service. */
import type { PublicKeyCredentialCreationOptionsJSON } from '@simplewebauthn/server';
import { type Browser, PASSWORD } from '../http/dashboard.js';
import type { Service } from '../http/http.js';
import type { Answer } from '../http/http-checks.js';
import { SoftwareAuthenticator } from './software-authenticator.js';

/** A device whose browser shows the pages of the service. */
export function deviceOf({ pageOrigin }: Pick<Service, 'pageOrigin'>): SoftwareAuthenticator {
  return new SoftwareAuthenticator(new URL(pageOrigin).origin);
}

/** Adds a passkey to the account of a signed-in browser. */
export async function addPasskey(
  browser: Browser,
  device: SoftwareAuthenticator,
  name = 'Laptop',
): Promise<Answer> {
  const path = '/api/account/passkeys';
  const body = { password: PASSWORD };
  const options = await browser.ask<PublicKeyCredentialCreationOptionsJSON>({ path: `${path}/start`, body });
  return browser.send({ path, body: { name, response: device.create(options) } });
}
