/** Users with a second factor need both factors to change how they sign in, also in a session and on a trusted device. */
import type { PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/server';
import { describe, expect, test } from 'vitest';
import { guessesMax } from '../../../src/domain/limits.js';
import { auditOf, Browser, PASSWORD, signedIn } from '../../support/http/dashboard.js';
import { detailsOf, errorOf, type Service, startService } from '../../support/http/http.js';
import { addPasskey, deviceOf, provePasskey } from '../../support/users/passkeys.js';
import { SoftwareAuthenticator } from '../../support/users/software-authenticator.js';
import { codeNow, travel } from '../../support/users/visitor.js';

const ada = 'ada@example.org';
const newPassword = 'another long passphrase';

/** The cookie with what a passkey has to sign. */
const CHALLENGE = 'caller-stats.passkey';

/** Turns on codes of an app. The code of this half minute is used then. */
async function addCodes(service: Service, browser: Browser, proof: object = { password: PASSWORD }) {
  const path = '/api/account/second-factor';
  const { uri, backupCodes } = await browser.ask<{ uri: string; backupCodes: string[] }>({
    path: `${path}/start`,
    body: proof,
  });
  await browser.ask({ path: `${path}/confirm`, body: { code: codeNow(uri) } }, 204);
  for (const code of backupCodes) service.hide(code);
  const nextCode = (): string => {
    travel(Date.now() + 30_000);
    return codeNow(uri);
  };
  return { nextCode, backupCodes };
}

/** The failures of the user that the audit log has, newest first. */
async function failuresOf(service: Service): Promise<string[]> {
  const entries = await auditOf(service);
  return entries
    .filter(({ action }) => ['user.sign_in_failure', 'user.lockout'].includes(action))
    .map(({ action, detail }) => `${action} ${detail}`);
}

/** The paths that change how the user signs in, with the other fields of their bodies and the status of success. */
const CHANGES = [
  ['second-factor/stop', {}, 204],
  ['passkeys/start', {}, 200],
  ['passkeys/:id/remove', {}, 204],
  ['password', { newPassword }, 204],
] as const;

describe.each(CHANGES)('with codes of an app, %s', (path, fields, done) => {
  /** A user with both kinds of second factor. */
  async function start() {
    const service = await startService();
    service.hide(newPassword);
    const browser = await signedIn(service, ada, 'owner');
    const device = deviceOf(service);
    await addPasskey(browser, device);
    const { nextCode, backupCodes } = await addCodes(service, browser, await provePasskey(browser, device));
    const [{ id = '' } = {}] = (
      await browser.ask<{ passkeys: { id: string }[] }>({ path: '/api/account/passkeys' })
    ).passkeys;
    const change = (proof: object, from = browser) =>
      from.send({ path: `/api/account/${path.replace(':id', id)}`, body: { ...fields, ...proof } });
    return { service, browser, device, nextCode, backupCodes, change };
  }

  test('needs the password and a code, and changes nothing without either', async () => {
    const { service, browser, nextCode, change } = await start();
    const missing = await change({ password: PASSWORD });
    expect([missing.status, ...detailsOf(missing)]).toEqual([
      400,
      'code: is missing; type one of your app or a backup code, or use a passkey',
    ]);
    expect((await change({ password: PASSWORD, code: '' })).status).toBe(400);
    const code = nextCode();
    const wrongPassword = await change({ password: 'not the passphrase', code });
    expect([wrongPassword.status, errorOf(wrongPassword)]).toEqual([401, 'The password is wrong.']);
    expect((await change({ code })).status).toBe(400);
    const wrongCode = await change({ password: PASSWORD, code: '00000x' });
    expect([wrongCode.status, errorOf(wrongCode)]).toEqual([
      401,
      'The code is wrong or too old; each works once, for half a minute.',
    ]);
    expect(await browser.ask({ path: '/api/session' })).toMatchObject({ user: { codes: true } });
    expect(await browser.ask({ path: '/api/account/passkeys' })).toMatchObject({ passkeys: [{}] });
    expect((await new Browser(service).signIn(ada)).status).toBe(200);
    // A wrong password has not used the code.
    expect((await change({ password: PASSWORD, code: ` ${code} ` })).status).toBe(done);
  });

  test('takes a backup code once', async () => {
    const { service, backupCodes, change } = await start();
    const [code] = backupCodes;
    const elsewhere = new Browser(service);
    await elsewhere.signIn(ada);
    await elsewhere.ask({ path: '/api/sign-in/second-factor', body: { code, trustDevice: true } }, 204);
    // The device is trusted, which only its sign-ins ask.
    expect((await change({ password: PASSWORD }, elsewhere)).status).toBe(400);
    expect((await change({ password: PASSWORD, code }, elsewhere)).status).toBe(401);
    expect((await change({ password: PASSWORD, code: backupCodes[1] }, elsewhere)).status).toBe(done);
  });

  test('takes a passkey instead of a code', async () => {
    const { browser, device, change } = await start();
    expect((await change(await provePasskey(browser, device))).status).toBe(done);
  });
});

test('wrong codes count as those of sign-ins do, and not as passwords', async () => {
  const service = await startService();
  const browser = await signedIn(service, ada, 'owner');
  const { nextCode } = await addCodes(service, browser);
  const stop = (code: string) =>
    browser.send({ path: '/api/account/second-factor/stop', body: { password: PASSWORD, code } });
  for (let at = 0; at < guessesMax; at++) expect((await stop('00000x')).status).toBe(401);
  const locked = await stop(nextCode());
  expect([locked.status, locked.headers['retry-after']]).toEqual([429, '900']);
  const other = new Browser(service);
  await other.signIn(ada);
  const verify = { path: '/api/sign-in/second-factor', body: { code: nextCode() } };
  expect((await other.send(verify)).status).toBe(429);
  expect(await failuresOf(service)).toEqual(['user.lockout codes', 'user.sign_in_failure codes']);
  // Ending sessions takes the password alone.
  await browser.ask({ path: '/api/sessions/end-others', body: { password: PASSWORD } }, 204);
});

test('a new password that is easy to guess uses no code', async () => {
  const service = await startService();
  const browser = await signedIn(service, ada, 'owner');
  const { nextCode } = await addCodes(service, browser);
  const code = nextCode();
  service.hide(newPassword);
  const change = (next: string) =>
    browser.send({ path: '/api/account/password', body: { password: PASSWORD, code, newPassword: next } });
  expect((await change('password1234')).status).toBe(400);
  expect((await change(newPassword)).status).toBe(204);
});

describe('a user whose second factor is a passkey', () => {
  async function start() {
    const service = await startService();
    const browser = await signedIn(service, ada, 'owner');
    // It does not count, so that its counter refuses nothing.
    const device = new SoftwareAuthenticator(new URL(service.pageOrigin).origin, { counter: 0 });
    await addPasskey(browser, device);
    const begin = (proof: object) =>
      browser.send({ path: '/api/account/second-factor/start', body: { password: PASSWORD, ...proof } });
    const challenge = (from = browser, path = '/api/account/passkeys/challenge') =>
      from.ask<PublicKeyCredentialRequestOptionsJSON>({ path, body: {} });
    return { service, browser, device, begin, challenge };
  }

  test('needs what it signed just now, for this', async () => {
    const { service, browser, device, begin, challenge } = await start();
    expect((await begin({})).status).toBe(400);
    expect((await begin({ code: '000000' })).status).toBe(401);
    expect((await begin({ passkey: { id: 'a b', response: {} } })).status).toBe(400);
    // Without a challenge, for another one, and of a sign-in.
    expect((await begin({ passkey: device.get({ challenge: 'x', rpId: 'localhost' }) })).status).toBe(401);
    expect((await begin({ passkey: device.get(await challenge(), { challenge: 'x' }) })).status).toBe(401);
    expect((await begin({ passkey: device.get(await challenge(), { origin: 'http://x' }) })).status).toBe(
      401,
    );
    const ofSignIn = await challenge(browser, '/api/sign-in/passkey/start');
    expect((await begin({ passkey: device.get(ofSignIn) })).status).toBe(401);
    const halfway = new Browser(service);
    await halfway.signIn(ada);
    const step = { path: '/api/sign-in/second-factor/start', body: {} };
    const ofStep = await halfway.ask<{ passkey: PublicKeyCredentialRequestOptionsJSON }>(step);
    browser.setCookie(CHALLENGE, halfway.cookie(CHALLENGE) ?? '');
    expect((await begin({ passkey: device.get(ofStep.passkey) })).status).toBe(401);
    const eve = await signedIn(service, 'eve@example.org', 'viewer');
    const evesDevice = deviceOf(service);
    await addPasskey(eve, evesDevice);
    const { passkey: evesPasskey } = await provePasskey(eve, evesDevice);
    expect((await begin({ passkey: evesPasskey })).status).toBe(401);
    expect((await begin({ passkey: evesDevice.get(await challenge(), { userHandle: '' }) })).status).toBe(
      401,
    );
    const proof = await provePasskey(browser, device);
    const before = browser.copy();
    const wrong = await begin({ ...proof, password: 'not the passphrase' });
    expect([wrong.status, errorOf(wrong)]).toEqual([401, 'The password is wrong.']);
    expect((await begin(proof)).status).toBe(200);
    expect((await before.send({ path: '/api/sessions' })).status).toBe(401);
    browser.setCookie(CHALLENGE, before.cookie(CHALLENGE) ?? '');
    expect((await begin(proof)).status).toBe(401);
    expect((await failuresOf(service)).toSorted()).toEqual([
      'user.sign_in_failure codes',
      'user.sign_in_failure passkeys, from a known browser',
      'user.sign_in_failure passwords, from a known browser',
    ]);
  });

  test('signs nobody in with what it signed for this', async () => {
    const { service, browser, device, challenge } = await start();
    const response = device.get(await challenge());
    expect((await browser.send({ path: '/api/sign-in/passkey', body: { response } })).status).toBe(401);
    const stranger = new Browser(service);
    expect((await stranger.send({ path: '/api/account/passkeys/challenge', body: {} })).status).toBe(401);
  });
});

test('a user without a second factor needs none, and has no passkey to sign with', async () => {
  const service = await startService();
  const browser = await signedIn(service, ada, 'owner');
  const none = await browser.send({ path: '/api/account/passkeys/challenge', body: {} });
  expect([none.status, errorOf(none)]).toEqual([
    404,
    'No passkey of yours works at this address. Use a code, or ask an administrator to reset your second factor.',
  ]);
  expect((await addPasskey(browser, deviceOf(service))).status).toBe(204);
});
