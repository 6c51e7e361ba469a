/** Passkeys on every store: what is refused, on any number of nodes, and what signs in. */
import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { passkeyChallengeSeconds, passkeysMax } from '../../../src/domain/limits.js';
import { placeFactories } from '../../support/storage/store.js';
import { allowApplication } from '../../support/users/application.js';
import { runOnUsers } from '../../support/users/people.js';
import { type Deviation, SoftwareAuthenticator } from '../../support/users/software-authenticator.js';
import {
  ada,
  codeNow,
  codeOf,
  createUser,
  findEmail,
  type Node,
  sessionOf,
  travel,
  usersOf,
  Visitor,
  withSecondFactor,
} from '../../support/users/visitor.js';

const bob = { email: 'bob@example.org', name: 'Bob', password: 'another long passphrase' };
const relyingParty = { id: 'counts.example.org', origin: 'https://counts.example.org' };
const elsewhere = { id: 'other.example.org', origin: 'https://other.example.org' };

/** Adds a passkey to the account of a signed-in visitor. */
async function addPasskey(
  { passkeys }: Node,
  visitor: Visitor,
  device = new SoftwareAuthenticator(relyingParty.origin),
  deviation: Deviation = {},
): Promise<SoftwareAuthenticator> {
  const started = visitor.keep(await passkeys.startAdding(visitor.asking(), relyingParty));
  const response = device.create(started.response, deviation);
  visitor.keep(await passkeys.add(visitor.asking(), { name: 'Laptop', response, relyingParty }));
  return device;
}

/** Begins to sign in, in a new browser unless one is given. Returns what finishes it, which may be repeated. */
async function begin(
  node: Node,
  device: SoftwareAuthenticator,
  deviation: Deviation = {},
  visitor = new Visitor(),
) {
  const started = visitor.keep(await node.passkeys.startSignIn(visitor.asking(), relyingParty));
  const response = device.get(started.response, deviation);
  const asking = visitor.asking();
  const finish = async (on = node) =>
    visitor.keep(await on.passkeys.signIn(asking, { response, relyingParty }));
  return { visitor, finish };
}

/** Types the password, and begins the second step. */
async function beginSecondStep(node: Node, who = ada, visitor = new Visitor()) {
  const answered = visitor.keep(await node.users.signIn(visitor.asking(), who));
  expect(answered.secondFactor).toBe(true);
  const { response } = visitor.keep(await node.passkeys.startSecondFactor(visitor.asking(), relyingParty));
  const finish = async (device: SoftwareAuthenticator, deviation: Deviation = {}, trustDevice = false) => {
    if (response.passkey === null) throw new Error('no passkey is asked for');
    const body = { response: device.get(response.passkey, deviation), relyingParty, trustDevice };
    return visitor.keep(await node.passkeys.verifySecondFactor(visitor.asking(), body));
  };
  return { visitor, offered: response, finish };
}

describe.each(placeFactories)('%s:', (_kind, factory) => {
  const openNew = async () => {
    const { open } = await factory();
    const [store, other] = [await open(), await open()];
    return { store, node: usersOf(store), second: usersOf(other) };
  };

  test('refuses each answer that a correct device of the user would not give', async () => {
    const { node } = await openNew();
    const device = await addPasskey(node, await createUser(node));
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    for (const deviation of [
      { origin: elsewhere.origin },
      { origin: 'http://counts.example.org' },
      { relyingPartyId: elsewhere.id },
      { challenge: Buffer.from('another challenge').toString('base64url') },
      { type: 'webauthn.create' },
      { userVerified: false },
      { userPresent: false },
      { counter: 1 },
      { counter: 0 },
      { key: privateKey },
      { userHandle: Buffer.from('somebody else').toString('base64url') },
      { id: 'no-such-credential' },
    ] satisfies Deviation[])
      expect(await codeOf((await begin(node, device, deviation)).finish()), JSON.stringify(deviation)).toBe(
        'wrong_credentials',
      );
    const { visitor, finish } = await begin(node, device);
    expect(await finish()).toMatchObject({ email: ada.email, passkey: 'Laptop' });
    expect(await findEmail(node, visitor)).toBe(ada.email);
  });

  test('a signed challenge works once, whichever node gets it, also after a restart', async () => {
    const { node, second, store } = await openNew();
    // Its counter refuses nothing.
    const uncounted = new SoftwareAuthenticator(relyingParty.origin, { counter: 0 });
    const device = await addPasskey(node, await createUser(node), uncounted);
    const { finish } = await begin(node, device);
    const results = [finish(), finish(second), finish(), finish(second)].map(codeOf);
    expect((await Promise.all(results)).toSorted()).toEqual([
      'accepted',
      ...Array(3).fill('wrong_credentials'),
    ]);
    expect(await codeOf(finish(usersOf(store)))).toBe('wrong_credentials');
    // One that began before the restart works after it.
    const later = await begin(node, device);
    expect(await codeOf(later.finish(usersOf(store)))).toBe('accepted');
  });

  test('a challenge works only in the browser that asked for it, for its purpose, and for five minutes', async () => {
    const now = Date.now();
    travel(now);
    const { node } = await openNew();
    const owner = await createUser(node);
    const device = await addPasskey(node, owner);
    const started = await node.passkeys.startSignIn(new Visitor().asking(), relyingParty);
    const body = { response: device.get(started.response), relyingParty };
    expect(await codeOf(node.passkeys.signIn(new Visitor().asking(), body))).toBe('wrong_credentials');
    // The browser's newer challenge replaces the older one.
    const visitor = new Visitor();
    const { finish } = await begin(node, device, {}, visitor);
    const newer = await begin(node, device, {}, visitor);
    expect(await codeOf(finish())).toBe('accepted');
    expect(await codeOf(newer.finish())).toBe('accepted');
    // One for adding a passkey neither signs in nor is a second factor.
    const adding = owner.keep(await node.passkeys.startAdding(owner.asking(), relyingParty));
    const response = device.get({ ...adding.response, rpId: relyingParty.id });
    owner.keep(await node.users.signIn(owner.asking(), ada));
    for (const refused of [
      node.passkeys.signIn(owner.asking(), { response, relyingParty }),
      node.passkeys.verifySecondFactor(owner.asking(), { response, relyingParty, trustDevice: false }),
    ])
      expect(await codeOf(refused)).toBe('wrong_credentials');
    const late = await begin(node, device);
    travel(now + passkeyChallengeSeconds * 1000);
    expect(await codeOf(late.finish())).toBe('wrong_credentials');
  });

  test('starting to sign in stores nothing', async () => {
    const { node, store } = await openNew();
    await createUser(node);
    const rows = async () => {
      const { rows: found } = await runOnUsers(store, 'SELECT count(*) AS rows FROM {user_verification}');
      return Number(found[0]?.['rows']);
    };
    const before = await rows();
    for (let at = 0; at < 20; at++) await node.passkeys.startSignIn(new Visitor().asking(), relyingParty);
    expect(await rows()).toBe(before);
  });

  test('a passkey belongs to one user and one host', async () => {
    const { node } = await openNew();
    const [owner, other] = [await createUser(node), await createUser(node, bob)];
    const device = await addPasskey(node, owner);
    expect(await codeOf(addPasskey(node, other, device))).toBe('invalid');
    expect(await codeOf(addPasskey(node, owner, device))).toBe('invalid');
    for (const deviation of [
      { origin: elsewhere.origin },
      { relyingPartyId: elsewhere.id },
      { challenge: 'another' },
      { type: 'webauthn.get' },
      { userPresent: false },
    ])
      expect(
        await codeOf(addPasskey(node, other, new SoftwareAuthenticator(relyingParty.origin), deviation)),
      ).toBe('invalid');
    expect(await node.passkeys.list((await sessionOf(node, other)).user)).toEqual([]);
    // The public URL is another one now.
    const visitor = new Visitor();
    const started = visitor.keep(await node.passkeys.startSignIn(visitor.asking(), elsewhere));
    const response = device.get(started.response, { origin: elsewhere.origin });
    expect(await codeOf(node.passkeys.signIn(visitor.asking(), { response, relyingParty: elsewhere }))).toBe(
      'wrong_credentials',
    );
  });

  test('of two uses of one counted state, one is refused; devices that do not count are accepted', async () => {
    const { node, second } = await openNew();
    const visitor = await createUser(node);
    const device = await addPasskey(node, visitor);
    const both = [await begin(node, device, { counter: 9 }), await begin(second, device, { counter: 9 })];
    const results = await Promise.all(both.map(({ finish }) => codeOf(finish())));
    expect(results.toSorted()).toEqual(['accepted', 'wrong_credentials']);
    const uncounted = await addPasskey(
      node,
      visitor,
      new SoftwareAuthenticator(relyingParty.origin, { counter: 0 }),
    );
    for (let at = 0; at < 2; at++)
      expect(await codeOf((await begin(node, uncounted)).finish())).toBe('accepted');
  });

  test('a removed passkey opens nothing, and what it opened has ended', async () => {
    const { store, node, second } = await openNew();
    const visitor = await createUser(node);
    const device = await addPasskey(node, visitor);
    const { user } = await sessionOf(node, visitor);
    const begun = await begin(node, device);
    const there = await begin(second, device);
    await there.finish();
    const { exchange, reads } = await allowApplication(node, store, user.id);
    const tokens = await exchange();
    expect(await reads(tokens)).toBe(true);
    const [{ id = '' } = {}] = await node.passkeys.list(user);
    const stranger = await sessionOf(node, await createUser(node, bob));
    expect(await codeOf(node.passkeys.remove(stranger, id))).toBe('not_found');
    expect(await codeOf(node.passkeys.rename(stranger.user, { id, name: 'Mine' }))).toBe('not_found');
    await node.passkeys.remove(await sessionOf(node, visitor), id);
    expect(await codeOf(node.passkeys.remove(await sessionOf(node, visitor), id))).toBe('not_found');
    expect(await codeOf(begun.finish())).toBe('wrong_credentials');
    expect([await findEmail(second, there.visitor), await reads(tokens)]).toEqual([undefined, false]);
    expect(await findEmail(node, visitor)).toBe(ada.email);
    expect(await node.users.signIn(new Visitor().asking(), ada)).toMatchObject({ secondFactor: false });
  });

  test('a new passkey ends all other sessions and the trust in devices', async () => {
    const { node } = await openNew();
    const { visitor } = await withSecondFactor(node);
    const device = await addPasskey(node, visitor);
    const there = await beginSecondStep(node);
    await there.finish(device, {}, true);
    const { user } = await sessionOf(node, visitor);
    expect(await node.users.listTrustedDevices(user, Date.now())).toHaveLength(1);
    await addPasskey(node, visitor);
    expect(await findEmail(node, there.visitor)).toBeUndefined();
    expect(await findEmail(node, visitor)).toBe(ada.email);
    expect(await node.users.listTrustedDevices(user, Date.now())).toEqual([]);
  });

  test('after the password, a passkey of this user is the second factor, also without its PIN', async () => {
    const { node, second } = await openNew();
    const device = await addPasskey(node, await createUser(node));
    const foreign = await addPasskey(node, await createUser(node, bob));
    const { visitor, offered, finish } = await beginSecondStep(node);
    expect(offered).toMatchObject({ codes: false, passkey: { allowCredentials: [{ id: device.id }] } });
    for (const [other, deviation] of [
      [foreign, {}],
      [device, { origin: elsewhere.origin }],
      [device, { relyingPartyId: elsewhere.id }],
      [device, { challenge: 'another' }],
      [device, { userPresent: false }],
      [device, { counter: 1 }],
    ] as const)
      expect(await codeOf(finish(other, deviation)), JSON.stringify(deviation)).toBe('wrong_credentials');
    expect(await findEmail(node, visitor)).toBeUndefined();
    const asking = new Visitor();
    expect(await codeOf(node.passkeys.startSecondFactor(asking.asking(), relyingParty))).toBe(
      'wrong_credentials',
    );
    await finish(device, { userVerified: false }, true);
    expect(await findEmail(second, visitor)).toBe(ada.email);
    // The browser is trusted from now on, however often it signs in.
    for (let at = 0; at < 2; at++)
      expect(visitor.keep(await node.users.signIn(visitor.asking(), ada))).toMatchObject({
        secondFactor: false,
      });
  });

  test('codes and passkeys are equal, and a second step is finished once', async () => {
    const { node } = await openNew();
    const { visitor, backupCodes } = await withSecondFactor(node);
    const uncounted = new SoftwareAuthenticator(relyingParty.origin, { counter: 0 });
    const device = await addPasskey(node, visitor, uncounted);
    const step = await beginSecondStep(node);
    expect(step.offered.codes).toBe(true);
    const asking = step.visitor.asking();
    const code = backupCodes[0] ?? '';
    await node.users.verifySecondFactor(asking, { code, trustDevice: false });
    expect(await codeOf(step.finish(device))).toBe('wrong_credentials');
    // Two answers at once, each to its own challenge.
    const begun = await beginSecondStep(node);
    const copies = [begun.visitor.copy(), begun.visitor.copy()];
    const answers = await Promise.all(
      copies.map(async (copy) => {
        const started = copy.keep(await node.passkeys.startSecondFactor(copy.asking(), relyingParty));
        if (started.response.passkey === null) throw new Error('no passkey is asked for');
        return { asking: copy.asking(), response: device.get(started.response.passkey) };
      }),
    );
    const results = answers.map(({ asking: request, response }) =>
      codeOf(node.passkeys.verifySecondFactor(request, { response, relyingParty, trustDevice: false })),
    );
    expect((await Promise.all(results)).toSorted()).toEqual(['accepted', 'wrong_credentials']);
    // An operator removes both.
    await node.credentials.removeAll(ada.email);
    expect(await codeOf((await begin(node, device)).finish())).toBe('wrong_credentials');
  });

  test('devices that sign with RSA work unless the server refuses them, also later', async () => {
    const { node, store } = await openNew();
    const strict = usersOf(store, { legacyAlgorithms: 'refuse' });
    const visitor = await createUser(node);
    const [device, old] = [
      await addPasskey(node, visitor),
      new SoftwareAuthenticator(relyingParty.origin, { isOld: true }),
    ];
    const offered = async (on: Node) => {
      const { response } = await on.passkeys.startAdding(visitor.asking(), relyingParty);
      return response.pubKeyCredParams.map(({ alg }) => alg);
    };
    expect(await offered(strict)).toEqual([-8, -7]);
    expect(await offered(node)).toEqual([-8, -7, -257]);
    expect(await codeOf(addPasskey(strict, visitor, old))).toBe('invalid');
    await addPasskey(node, visitor, old);
    expect(await codeOf((await begin(strict, old)).finish())).toBe('wrong_credentials');
    expect(await codeOf((await begin(node, old)).finish())).toBe('accepted');
    expect(await codeOf((await begin(strict, device)).finish())).toBe('accepted');
  });

  test('codes of an app that was not confirmed finish no second step', async () => {
    const { node } = await openNew();
    const visitor = await createUser(node);
    await addPasskey(node, visitor);
    const { uri, backupCodes } = await node.credentials.startSecondFactor(visitor.asking());
    const step = await beginSecondStep(node);
    expect(step.offered.codes).toBe(false);
    const right = codeNow(uri);
    for (const code of [right, backupCodes[0] ?? ''])
      expect(
        await codeOf(node.users.verifySecondFactor(step.visitor.asking(), { code, trustDevice: false })),
      ).toBe('wrong_credentials');
    visitor.keep(await node.credentials.confirmSecondFactor(visitor.asking(), right));
  });

  test('a user has at most so many passkeys', async () => {
    const { node } = await openNew();
    const visitor = await createUser(node);
    for (let at = 0; at < passkeysMax; at++) await addPasskey(node, visitor);
    expect(await codeOf(addPasskey(node, visitor))).toBe('invalid');
    expect(await node.passkeys.list((await sessionOf(node, visitor)).user)).toHaveLength(passkeysMax);
  });

  test('a user takes their passkeys along', async () => {
    const { node, store } = await openNew();
    await addPasskey(node, await createUser(node));
    await node.users.remove(ada.email);
    expect((await runOnUsers(store, 'SELECT id FROM {user_passkey}')).rows).toEqual([]);
  });
});
