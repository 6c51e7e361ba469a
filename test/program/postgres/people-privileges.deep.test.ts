/** What a node's user must be allowed for people to sign in: what the reference names is enough, and none too much. */
import { createHash } from 'node:crypto';
import { expect, inject, test } from 'vitest';
import { Applications } from '../../../src/auth/applications/applications.js';
import { takeOver } from '../../../src/auth/single-sign-on.js';
import { dayMs } from '../../../src/domain/time/duration.js';
import { openStore } from '../../../src/storage/open.js';
import type { Store } from '../../../src/storage/ports/store.js';
import { documentedGrants, isOfPeople, oneByOne } from '../../support/postgres/grants.js';
import { newUser } from '../../support/postgres/postgres-user.js';
import { shareLinkOf } from '../../support/storage/entities.js';
import {
  by,
  newSchemaIn,
  onDatabase,
  openForTest,
  projectOf,
  schemaOf,
} from '../../support/storage/store.js';
import { invitationOf } from '../../support/users/people.js';
import { SoftwareAuthenticator } from '../../support/users/software-authenticator.js';
import { codesOf, travel, usersOf, Visitor } from '../../support/users/visitor.js';

const databaseUrl = inject('postgresServers').at(-1)?.url ?? '';
const password = 'a long enough passphrase';
const org = 'default';
const relyingParty = { id: 'counts.example.org', origin: 'https://counts.example.org' };
const stepMs = 30_000;
/** In the middle of a step of codes. The clock stands still, so that no test meets the end of one. */
const startMs = Math.floor(Date.now() / stepMs) * stepMs + stepMs / 2;

/** What holds of an answer that must be none of the refusals. */
function done<T extends object>(answered: T | string): T {
  if (typeof answered === 'string') throw new Error(`it was answered ${answered}`);
  return answered;
}

/** Invitations of each kind, and all that becomes of them. */
async function inviteAll(store: Store, name: string): Promise<void> {
  const email = `${name}@example.org`;
  await store.directory.isSetUpOpen();
  await store.directory.createInvitation(invitationOf(`${name} 1`, null, 'owner'), by);
  await store.directory.createInvitation(invitationOf(`${name} 2`, email, 'viewer'), by);
  await store.directory.revokeInvitation(org, `${name} 2`, by);
  await store.directory.createInvitation(invitationOf(`${name} 3`, email, 'viewer'), by);
  await store.directory.findInvitation(`hash of ${name} 3`, 2000);
  await store.directory.listInvitations(org, 2000);
  await store.directory.acceptInvitation(`hash of ${name} 3`, email, { ...by, at: 2000 });
  await store.directory.listMemberships(email);
  await store.directory.logUserChange(email, { action: 'user.password', detail: '' }, by);
}

/** A share link, and all that becomes of it. */
async function shareAll(store: Store, name: string): Promise<void> {
  await store.directory.createProject(projectOf(name), by);
  await store.directory.createShareLink(shareLinkOf(name, name), by);
  await store.directory.listShareLinks(org, name);
  await store.directory.findShareLink(`hash of ${name}`, 2000);
  await store.directory.revokeShareLink(org, name, by);
  // Takes the project from the invitations to read it, too.
  await store.directory.deleteProject(org, name, by);
}

/** Counts of sign-ins: taken, given back and forgotten. */
async function countAttempts({ throttles }: Store, name: string): Promise<void> {
  const limit = { attemptsMax: 10, windowMs: 1000 };
  const { resetsAt } = await throttles.take(name, limit, 2000);
  await throttles.giveBack(name, resetsAt);
  await throttles.reset(name);
}

/** An application that an account connects, and all that becomes of it. */
async function connectAll(store: Store, name: string): Promise<void> {
  const { authProvider, users } = usersOf(store);
  const visitor = new Visitor();
  const email = `${name}-chat@example.org`;
  visitor.keep(await users.create(visitor.asking(), { email, name, password }));
  const userId = (await users.findSession(visitor.asking()))?.user.id ?? '';
  const applications = new Applications(authProvider, store.directory);
  const redirectUri = 'https://chat.example/callback';
  const clientId = await applications.register({ name, redirectUris: [redirectUri] });
  const verifier = 'v'.repeat(43);
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const holder = { userId, name, address: null, providerFactor: false };
  const code = await applications.allow({ clientId, redirectUri, challenge }, holder);
  const tokens = await applications.exchange(code, { clientId, redirectUri, verifier });
  const renewed = await applications.refresh(tokens?.refresh ?? '', clientId);
  expect((await applications.holderOf(renewed?.access ?? ''))?.email).toBe(email);
  const [connected] = await applications.list(userId);
  expect(await applications.end(userId, connected?.id ?? '')).toBe(name);
}

/** The life of an account: all that the dashboard offers. */
async function liveAll(store: Store, name: string): Promise<void> {
  const { authProvider, users, credentials, passkeys } = usersOf(store);
  const email = `${name}@example.org`;
  const visitor = new Visitor();
  travel(startMs);
  visitor.keep(await users.create(visitor.asking(), { email, name, password }));
  travel(startMs + 2 * dayMs);
  const found = await users.findSession(visitor.asking());
  if (found === undefined) throw new Error('the session is gone');
  await users.rename(visitor.asking(), 'Somebody');
  await users.listSessions(visitor.asking());
  await users.endOtherSessions(found.user, found.session);
  await users.listTrustedDevices(found.user, Date.now());
  const newPassword = `${password} 2`;
  visitor.keep(
    done(await credentials.changePassword(visitor.asking(), { currentPassword: password, newPassword })),
  );
  const started = done(await credentials.startSecondFactor(visitor.asking()));
  const codeAt = codesOf(started.uri);
  visitor.keep(done(await credentials.confirmSecondFactor(visitor.asking(), codeAt(Date.now()))));
  travel(Date.now() + stepMs);
  const other = new Visitor();
  other.keep(done(await users.signIn(other.asking(), { email, password: newPassword })));
  other.keep(
    done(await users.verifySecondFactor(other.asking(), { code: codeAt(Date.now()), trustDevice: true })),
  );
  await users.signOut(other.asking());
  visitor.keep(done(await credentials.stopSecondFactor(visitor.asking())));
  const device = new SoftwareAuthenticator(relyingParty.origin);
  const adding = visitor.keep(await passkeys.startAdding(visitor.asking(), relyingParty));
  const response = device.create(adding.response);
  visitor.keep(await passkeys.add(visitor.asking(), { name: 'Laptop', response, relyingParty }));
  const [passkey] = await passkeys.list(found.user);
  if (passkey === undefined) throw new Error('the passkey is gone');
  await passkeys.rename(found.user, { id: passkey.id, name: 'Phone' });
  const starting = visitor.keep(await passkeys.startSignIn(visitor.asking(), relyingParty));
  const assertion = { response: device.get(starting.response), relyingParty };
  visitor.keep(await passkeys.signIn(visitor.asking(), assertion));
  const again = await users.findSession(visitor.asking());
  if (again === undefined) throw new Error('the session with the passkey is gone');
  await passkeys.remove(again, passkey.id);
  await credentials.resetPassword({ token: await credentials.startPasswordReset(email), newPassword });
  // The first single sign-on to an account whose address nobody verified.
  expect(await takeOver(await authProvider.context(), found.user.id)).toBe(email);
}

test('signing in needs exactly the documented privileges', async () => {
  const url = newSchemaIn(databaseUrl);
  const user = await newUser(databaseUrl, 'secret');
  await (await openStore(url)).close();
  const schema = schemaOf(url);
  const grants = documentedGrants(schema, user.name);
  const change = (sql: string) => onDatabase(url, (client) => client.query(sql));
  await change(grants.join('\n'));
  const store = await openForTest(user.url(url));
  const doAll = async (name: string) => {
    await inviteAll(store, name);
    await liveAll(store, name);
    await connectAll(store, name);
    await shareAll(store, name);
    await countAttempts(store, name);
  };
  await doAll('before');
  const needed = oneByOne(grants).filter(isOfPeople);
  expect(needed).toHaveLength(39);
  for (const [at, privilege] of needed.entries()) {
    await change(`REVOKE ${privilege} FROM ${user.name}`);
    await expect(doAll(`without-${at}`), privilege).rejects.toThrow();
    await change(`GRANT ${privilege} TO ${user.name}`);
  }
  await doAll('after');
});
