/** Passkeys over HTTP: who may change them, the limits of sign-in, the audit log. `test/program/sign-in/passkeys.test.ts` has the rest. */
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server';
import { expect, test } from 'vitest';
import { addressFailuresMax, guessesMax } from '../../../src/domain/limits.js';
import { auditOf, Browser, invite, PASSWORD, signedIn } from '../../support/http/dashboard.js';
import { detailsOf, errorOf, type Service, startService } from '../../support/http/http.js';
import { addPasskey, deviceOf, provePasskey } from '../../support/users/passkeys.js';
import type { Deviation, SoftwareAuthenticator } from '../../support/users/software-authenticator.js';

const ada = 'ada@example.org';
const account = '/api/account/passkeys';
const signIn = '/api/sign-in/passkey';

/** Signs in from a new browser, whose address is `from`. */
async function signInWith(
  service: Service,
  device: SoftwareAuthenticator,
  deviation: Deviation = {},
  from?: string,
) {
  const browser = new Browser(service, from);
  const options = await browser.ask<PublicKeyCredentialRequestOptionsJSON>({
    path: `${signIn}/start`,
    body: {},
  });
  return {
    browser,
    answer: await browser.send({ path: signIn, body: { response: device.get(options, deviation) } }),
  };
}

test('a server that does not know its address has no passkeys, except on localhost', async () => {
  const service = await startService();
  const browser = new Browser(service);
  const ask = async (origin: string) => {
    const headers = { host: new URL(origin).host, origin };
    const { passkeyProblem } = await browser.ask({ path: '/api/session', headers });
    return [passkeyProblem, await browser.send({ path: `${signIn}/start`, body: {}, headers })] as const;
  };
  const [problem, refused] = await ask('http://127.0.0.1:4000');
  expect([problem, refused.status, errorOf(refused)]).toEqual([
    'no_public_url',
    409,
    'Passkeys need the setting --public-url.',
  ]);
  const [none, started] = await ask('http://localhost:4000');
  expect(none).toBeNull();
  expect(JSON.parse(started.text)).toMatchObject({ rpId: 'localhost', userVerification: 'required' });
});

test('adding and removing a passkey needs the password, and is audited', async () => {
  const service = await startService();
  const browser = await signedIn(service, ada, 'owner');
  const elsewhere = new Browser(service);
  await elsewhere.signIn(ada);
  const device = deviceOf(service);
  const start = (body: object) => browser.send({ path: `${account}/start`, body });
  const wrong = await start({ password: 'not the passphrase' });
  expect([wrong.status, errorOf(wrong)]).toEqual([401, 'The password is wrong.']);
  expect(detailsOf(await start({}))).toEqual(['password: is missing, or not a text']);
  for (const response of [
    undefined,
    'text',
    {},
    { id: 'a b', response: {} },
    { id: 'x'.repeat(1365), response: {} },
  ])
    expect((await browser.send({ path: account, body: { name: 'Laptop', response } })).status).toBe(400);
  for (const response of [{}, { clientDataJSON: '{}' }, { clientDataJSON: 1, attestationObject: '' }])
    expect(
      (await browser.send({ path: account, body: { name: 'Laptop', response: { id: 'id', response } } }))
        .status,
    ).toBe(400);
  expect((await addPasskey(browser, device, '')).status).toBe(400);
  expect((await addPasskey(browser, device)).status).toBe(204);
  expect((await elsewhere.send({ path: '/api/sessions' })).status).toBe(401);
  const list = async () =>
    (await browser.ask<{ passkeys: { id: string; name: string }[] }>({ path: account })).passkeys;
  const [{ id = '' } = {}] = await list();
  expect(await list()).toMatchObject([{ name: 'Laptop', host: 'localhost', lastUsedAt: null }]);
  const rename = (name: string) =>
    browser.send({ method: 'PATCH', path: `${account}/${id}`, body: { name } });
  expect((await rename('a\u202Eb')).status).toBe(400);
  expect((await rename('Old laptop')).status).toBe(204);
  expect((await signInWith(service, device)).answer.status).toBe(204);
  expect(await list()).toMatchObject([{ name: 'Old laptop', lastUsedAt: expect.any(String) }]);
  const remove = (body: object) => browser.send({ path: `${account}/${id}/remove`, body });
  const proof = await provePasskey(browser, device);
  expect((await remove({ ...proof, password: 'not the passphrase' })).status).toBe(401);
  expect((await remove(proof)).status).toBe(204);
  expect((await remove({ password: PASSWORD })).status).toBe(404);
  expect((await signInWith(service, device)).answer.status).toBe(401);
  const entries = (await auditOf(service)).filter(({ action }) =>
    ['user.passkey', 'user.sign_in'].includes(action),
  );
  expect(entries.map(({ actor, detail }) => `${actor} ${detail}`)).toEqual([
    `${ada} removed: Old laptop; all other sessions ended`,
    `${ada} with the passkey Old laptop`,
    `${ada} renamed: Old laptop`,
    `${ada} added: Laptop; all other sessions ended`,
    `${ada} with a password`,
  ]);
});

test('failures with a passkey are limited and recorded like those with a password', async () => {
  const service = await startService();
  const browser = await signedIn(service, ada, 'owner');
  const device = deviceOf(service);
  await addPasskey(browser, device);
  const fail = (from: string, id?: string) =>
    signInWith(service, device, { challenge: 'another', ...(id && { id }) }, from);
  for (let at = 0; at < guessesMax; at++) expect((await fail(`192.0.2.${at + 10}`)).answer.status).toBe(401);
  const blocked = (await fail('192.0.2.99')).answer;
  expect([blocked.status, blocked.headers['retry-after']]).toEqual([429, expect.any(String)]);
  // A browser that has signed in before has a count of its own.
  const known = browser.copy();
  const options = await known.ask<PublicKeyCredentialRequestOptionsJSON>({
    path: `${signIn}/start`,
    body: {},
  });
  expect((await known.send({ path: signIn, body: { response: device.get(options) } })).status).toBe(204);
  const failures = (await auditOf(service)).filter(({ actor }) => actor === 'not signed in');
  expect(failures.map(({ action, detail }) => `${action} ${detail}`)).toEqual([
    'user.lockout passkeys, from an unknown browser',
    'user.sign_in_failure passkeys, from an unknown browser',
  ]);
  // Unknown passkeys are limited by the address.
  for (let at = 0; at < addressFailuresMax; at++)
    expect((await fail('198.51.100.1', 'unknown')).answer.status).toBe(401);
  expect((await fail('198.51.100.1', 'unknown')).answer.status).toBe(429);
});

test('a passkey signs in, alone or after the password', async () => {
  const service = await startService({ basePath: '/stats' });
  const path = (one: string) => `/stats${one}`;
  const start = async (browser: Browser, at: string) =>
    browser.ask<PublicKeyCredentialRequestOptionsJSON & { passkey: PublicKeyCredentialRequestOptionsJSON }>({
      path: path(`${at}/start`),
      body: {},
    });
  const token = await invite(service, ada, 'owner');
  const browser = new Browser(service);
  await browser.ask(
    { path: path('/api/invitations/accept'), body: { token, name: 'Ada', password: PASSWORD } },
    204,
  );
  const device = deviceOf(service);
  const options = await browser.ask<PublicKeyCredentialCreationOptionsJSON>({
    path: path(`${account}/start`),
    body: { password: PASSWORD },
  });
  await browser.ask({ path: path(account), body: { name: 'Key', response: device.create(options) } }, 204);

  const alone = new Browser(service);
  const response = device.get(await start(alone, signIn));
  await alone.ask({ path: path(signIn), body: { response } }, 204);
  expect(await alone.ask({ path: path('/api/session') })).toMatchObject({
    user: { email: ada, secondFactor: true, codes: false },
  });
  expect(alone.cookie('caller-stats.device')).toBeDefined();

  const second = new Browser(service);
  const body = { email: ada, password: PASSWORD };
  expect(await second.ask({ path: path('/api/sign-in'), body })).toEqual({ secondFactor: true });
  expect(await second.ask({ path: path('/api/session') })).toMatchObject({ user: null });
  const { passkey } = await start(second, '/api/sign-in/second-factor');
  const finish = { response: device.get(passkey), trustDevice: true };
  await second.ask({ path: path('/api/sign-in/second-factor/passkey'), body: finish }, 204);
  expect(await second.ask({ path: path('/api/trusted-devices') })).toMatchObject({ devices: [{}] });
  expect((await auditOf(service)).slice(0, 2)).toMatchObject([
    { action: 'user.trust' },
    { action: 'user.sign_in', detail: 'with the passkey Key as the second factor' },
  ]);
});
