/** Codes of the second factor, and devices that need none, on every store. */
import { Secret } from 'otpauth';
import { describe, expect, test } from 'vitest';
import { codeLockSeconds, guessesMax } from '../../../src/domain/limits.js';
import type { Store } from '../../../src/storage/ports/store.js';
import { placeFactories } from '../../support/storage/store.js';
import { runOnUsers } from '../../support/users/people.js';
import {
  ada,
  addSecondFactor,
  codeOf,
  codesOf,
  createUser,
  findEmail,
  type Node,
  sessionOf,
  travel,
  usersOf,
  Visitor,
  withSecondFactor,
} from '../../support/users/visitor.js';
import { isDeep } from '../../support/volume.js';

const stepMs = 30_000;

/** Begins half-way in a step, so that no test meets the end of one. */
function startOfTime(): number {
  const now = Math.floor(Date.now() / stepMs) * stepMs + stepMs / 2;
  travel(now);
  return now;
}

/** Each set-up hashes ten backup codes, which takes a second, and the rows are the same on every store. */
const triedInQuickRun = placeFactories[0]?.[0];

describe.each(placeFactories)('%s:', (kind, factory) => {
  const openNew = async () => {
    const { open } = await factory();
    const [store, other] = [await open(), await open()];
    return { store, node: usersOf(store), second: usersOf(other) };
  };
  /** The first step of signing in, in a new browser. */
  const challenged = async (node: Node, password = ada.password): Promise<Visitor> => {
    const visitor = new Visitor();
    expect(visitor.keep(await node.users.signIn(visitor.asking(), { ...ada, password }))).toMatchObject({
      secondFactor: true,
    });
    return visitor;
  };
  const verify = async (node: Node, visitor: Visitor, code: string, trustDevice = false) =>
    visitor.keep(await node.users.verifySecondFactor(visitor.asking(), { code, trustDevice }));

  test('the seed of an app has 32 random characters, and each of ten backup codes 10', async () => {
    const { node } = await openNew();
    const visitor = await createUser(node);
    const { uri, backupCodes } = await node.credentials.startSecondFactor(visitor.asking());
    const again = await node.credentials.startSecondFactor(visitor.asking());
    const seedOf = (address: string) =>
      Buffer.from(Secret.fromBase32(new URL(address).searchParams.get('secret') ?? '').bytes).toString();
    expect(seedOf(uri)).toMatch(/^[A-Za-z0-9_-]{32}$/);
    expect(seedOf(again.uri)).not.toBe(seedOf(uri));
    expect(backupCodes).toHaveLength(10);
    expect(new Set([...backupCodes, ...again.backupCodes]).size).toBe(20);
    for (const code of backupCodes) expect(code).toMatch(/^[A-Za-z0-9]{5}-[A-Za-z0-9]{5}$/);
    // Of small letters, capitals and digits: all ten without one kind do not happen.
    for (const kind of [/[a-z]/, /[A-Z]/, /[0-9]/]) expect(backupCodes.join('')).toMatch(kind);
  });

  test('a sign-in that waits for a code, and a browser that needs none, have 192 random bits', async () => {
    const now = startOfTime();
    const { node } = await openNew();
    const { code } = await withSecondFactor(node);
    travel(now + stepMs);
    const visitor = await challenged(node);
    const cookie = (name: string) => decodeURIComponent(visitor.cookies.get(`caller-stats.${name}`) ?? '');
    expect(cookie('two_factor')).toMatch(/^2fa-[A-Za-z0-9_-]{32}\.[A-Za-z0-9+/]{43}=$/);
    await verify(node, visitor, code(now + stepMs), true);
    expect(cookie('trust_device')).toMatch(
      /^[A-Za-z0-9_-]{43}![a-z-]+-[A-Za-z0-9_-]{32}\.[A-Za-z0-9+/]{43}=$/,
    );
  });

  test('a code works once, however many nodes get it at once', async () => {
    const now = startOfTime();
    const { node, second } = await openNew();
    const { code } = await withSecondFactor(node);
    expect(await codeOf(verify(node, await challenged(node), code(now)))).toBe('wrong_credentials');
    travel(now + stepMs);
    const visitors = [await challenged(node), await challenged(node), await challenged(second)];
    const results = visitors.map((visitor, at) =>
      codeOf(verify(at === 2 ? second : node, visitor, code(now + stepMs))),
    );
    expect((await Promise.all(results)).toSorted()).toEqual([
      'accepted',
      'wrong_credentials',
      'wrong_credentials',
    ]);
    expect(await codeOf(verify(second, await challenged(node), code(now + stepMs)))).toBe(
      'wrong_credentials',
    );
  });

  test('a code is accepted for the half minute in which the app shows it', async () => {
    const now = startOfTime();
    const { node } = await openNew();
    const { code } = await withSecondFactor(node);
    const later = now + 10 * stepMs;
    travel(later);
    for (const [steps, result] of [
      [1, 'wrong_credentials'],
      [2, 'wrong_credentials'],
      [-2, 'wrong_credentials'],
      [-1, 'wrong_credentials'],
      [0, 'accepted'],
      [0, 'wrong_credentials'],
    ] as const)
      expect(
        await codeOf(verify(node, await challenged(node), code(later + steps * stepMs))),
        `${steps}`,
      ).toBe(result);
    const end = Math.ceil(later / stepMs) * stepMs + stepMs;
    const last = code(end - 1);
    travel(end);
    expect(await codeOf(verify(node, await challenged(node), last))).toBe('wrong_credentials');
    travel(end - 1);
    expect(await codeOf(verify(node, await challenged(node), last))).toBe('accepted');
  });

  test('codes use SHA-256, or SHA-1 from the first code on, if the app knows nothing else', async () => {
    const now = startOfTime();
    const { node } = await openNew();
    const visitor = await createUser(node);
    const signInWith = async (code: string) => codeOf(verify(node, await challenged(node), code));
    const refused = 'wrong_credentials';
    for (const [asked, other, at] of [
      [undefined, 'SHA1', now],
      ['SHA1', undefined, now + 2 * stepMs],
    ] as const) {
      travel(at);
      const { uri } = await node.credentials.startSecondFactor(visitor.asking());
      expect(new URL(uri).searchParams.get('algorithm')).toBe('SHA256');
      const [own, others] = [codesOf(uri, asked), codesOf(uri, other)];
      expect(await codeOf(node.credentials.confirmSecondFactor(visitor.asking(), '12345x'))).toBe(refused);
      visitor.keep(await node.credentials.confirmSecondFactor(visitor.asking(), own(at)));
      travel(at + stepMs);
      expect(await signInWith(others(at + stepMs))).toBe(refused);
      expect(await signInWith(own(at + stepMs))).toBe('accepted');
      visitor.keep(await node.credentials.stopSecondFactor(visitor.asking()));
    }
  });

  test('a server that refuses legacy algorithms takes no codes of apps that know only SHA-1', async () => {
    const now = startOfTime();
    const { node, store } = await openNew();
    const strict = usersOf(store, { legacyAlgorithms: 'refuse' });
    const visitor = await createUser(node);
    const start = async () => (await strict.credentials.startSecondFactor(visitor.asking())).uri;
    const confirm = (on: Node, code: string) => on.credentials.confirmSecondFactor(visitor.asking(), code);
    const uri = await start();
    await expect(confirm(strict, codesOf(uri, 'SHA1')(now))).rejects.toMatchObject({
      code: 'wrong_credentials',
      message: expect.stringContaining('knows only SHA-1'),
    });
    // One that was set up before.
    visitor.keep(await confirm(node, codesOf(uri, 'SHA1')(now)));
    travel(now + stepMs);
    const signInWith = async (on: Node, code: string) => codeOf(verify(on, await challenged(on), code));
    expect(await signInWith(strict, codesOf(uri, 'SHA1')(now + stepMs))).toBe('wrong_credentials');
    expect(await signInWith(node, codesOf(uri, 'SHA1')(now + stepMs))).toBe('accepted');
    visitor.keep(await node.credentials.stopSecondFactor(visitor.asking()));
    const renewed = await start();
    visitor.keep(await confirm(strict, codesOf(renewed)(now + stepMs)));
    travel(now + 2 * stepMs);
    expect(await signInWith(strict, codesOf(renewed)(now + 2 * stepMs))).toBe('accepted');
  });

  test('a second step that waits for a code, and a link for a password, end with the password and with all sessions', async () => {
    let now = startOfTime();
    const { node } = await openNew();
    const { visitor, code } = await withSecondFactor(node);
    let password = ada.password;
    const ends: readonly ((next: string) => Promise<unknown>)[] = [
      async (newPassword) =>
        visitor.keep(
          await node.credentials.changePassword(visitor.asking(), { currentPassword: password, newPassword }),
        ),
      async (newPassword) => {
        const token = await node.credentials.startPasswordReset(ada.email);
        return node.credentials.resetPassword({ token, newPassword });
      },
      () => node.users.endAllSessions(ada.email),
    ];
    for (const [at, end] of ends.entries()) {
      const waiting = await challenged(node, password);
      const token = await node.credentials.startPasswordReset(ada.email);
      const next = `a long passphrase, number ${at}`;
      await end(next);
      now += stepMs;
      travel(now);
      expect(await codeOf(verify(node, waiting, code(now)))).toBe('wrong_credentials');
      expect(await codeOf(node.credentials.resetPassword({ token, newPassword: `${next} again` }))).toBe(
        'not_found',
      );
      password = next;
    }
  });

  if (isDeep || kind === triedInQuickRun)
    describe('backup codes', () => {
      const stored = async (store: Store): Promise<string> =>
        String(
          (await runOnUsers(store, 'SELECT backup_codes FROM {user_second_factor}')).rows[0]?.[
            'backup_codes'
          ],
        );
      const hashed = /^\["\$scrypt\$v=2\$ln=15,r=8,p=3\$[\w+/]{22}\$[\w+/]{86}"/;

      test('are stored as hashes with a salt, as passwords are', async () => {
        const { store, node } = await openNew();
        const { code: own, backupCodes } = await withSecondFactor(node);
        const bob = await withSecondFactor(node, { ...ada, email: 'bob@example.org' });
        const others = bob.backupCodes;
        const times = [0, stepMs, 2 * stepMs];
        expect(times.map(own)).not.toEqual(times.map(bob.code));
        expect(new Set([...backupCodes, ...others]).size).toBe(20);
        expect(backupCodes.join()).toMatch(/^([a-zA-Z\d]{5}-[a-zA-Z\d]{5},?){10}$/);
        const { rows } = await runOnUsers(store, 'SELECT backup_codes FROM {user_second_factor}');
        const lists = rows.map((row) => String(row['backup_codes']));
        for (const list of lists) expect(list).toMatch(hashed);
        expect(new Set(lists.map((list) => list.split('$')[4])).size).toBe(2);
        for (const code of [backupCodes[0] ?? '', backupCodes[9] ?? '']) {
          expect(lists.join()).not.toContain(code);
          expect(await codeOf(verify(node, await challenged(node), `${code}x`))).toBe('wrong_credentials');
          expect(await codeOf(verify(node, await challenged(node), code))).toBe('accepted');
          expect(await codeOf(verify(node, await challenged(node), code))).toBe('wrong_credentials');
        }
        // A hash from a copy of the database is not a code.
        const [hash] = JSON.parse(await stored(store)) as string[];
        expect(await codeOf(verify(node, await challenged(node), hash ?? ''))).toBe('wrong_credentials');
        await runOnUsers(store, "UPDATE {user_second_factor} SET backup_codes = 'of an early version'");
        expect(await codeOf(verify(node, await challenged(node), others[1] ?? ''))).toBe('wrong_credentials');
      });
    });

  test('parallel wrong codes do not pass the limit, which then holds for every code and node', async () => {
    const now = startOfTime();
    const { node, second } = await openNew();
    const { code, backupCodes } = await withSecondFactor(node);
    const visitors: Visitor[] = [];
    for (let at = 0; at < 30; at++) visitors.push(await challenged(node));
    const results = await Promise.all(
      visitors.map((visitor, at) =>
        codeOf(verify(at % 2 === 0 ? node : second, visitor, at % 3 === 0 ? 'no-such-code' : '000000x')),
      ),
    );
    expect(results.toSorted()).toEqual([
      ...Array(30 - guessesMax).fill('too_many_attempts'),
      ...Array(guessesMax).fill('wrong_credentials'),
    ]);
    const right = code(now + stepMs);
    travel(now + stepMs);
    expect(await codeOf(verify(second, await challenged(node), right))).toBe('too_many_attempts');
    expect(await codeOf(verify(node, await challenged(node), backupCodes[0] ?? ''))).toBe(
      'too_many_attempts',
    );
    const after = now + codeLockSeconds * 1000 + 1000;
    travel(after);
    expect(await codeOf(verify(node, await challenged(node), code(after)))).toBe('accepted');
  });

  test('a right code ends the count of wrong ones', async () => {
    let now = startOfTime();
    const { node } = await openNew();
    const { code, backupCodes } = await withSecondFactor(node);
    for (let round = 0; round < 2; round++) {
      for (let at = 1; at < guessesMax; at++)
        expect(await codeOf(verify(node, await challenged(node), '12345x'))).toBe('wrong_credentials');
      now += stepMs;
      travel(now);
      const right = round === 0 ? code(now) : (backupCodes[0] ?? '');
      expect(await codeOf(verify(node, await challenged(node), right))).toBe('accepted');
    }
  });

  test('wrong codes are limited within a session, too', async () => {
    const { node } = await openNew();
    const visitor = await createUser(node);
    await node.credentials.startSecondFactor(visitor.asking());
    const confirm = () => codeOf(node.credentials.confirmSecondFactor(visitor.asking(), '12345x'));
    for (let at = 0; at < guessesMax; at++) expect(await confirm()).toBe('wrong_credentials');
    expect(await confirm()).toBe('too_many_attempts');
  });

  if (isDeep || kind === triedInQuickRun)
    describe('a trusted device', () => {
      const trusted = async (node: Node, now: number) => {
        const { visitor: other, code } = await withSecondFactor(node);
        travel(now + stepMs);
        const device = await challenged(node);
        await verify(node, device, code(now + stepMs), true);
        return { other, device };
      };
      const needsCode = async (node: Node, device: Visitor, password = ada.password) =>
        device.keep(await node.users.signIn(device.asking(), { ...ada, password })).secondFactor;

      test('is listed, and can be ended by its user alone', async () => {
        const now = startOfTime();
        const { node, second } = await openNew();
        const { device } = await trusted(node, now);
        const { user } = await sessionOf(node, device);
        const [found, ...more] = await second.users.listTrustedDevices(user, now);
        expect(more).toEqual([]);
        expect(found).toMatchObject({ address: '192.0.2.1', userAgent: 'a test' });
        expect(found?.usedAt).toBe(now + stepMs);
        expect(await second.users.listTrustedDevices(user, found?.expiresAt ?? 0)).toEqual([]);
        const bob = await createUser(node, { ...ada, email: 'bob@example.org' });
        const other = (await sessionOf(node, bob)).user;
        await expect(node.users.forgetTrustedDevice(other, found?.id ?? '')).rejects.toMatchObject({
          code: 'not_found',
        });
        expect(await needsCode(node, device)).toBe(false);
        // Signing in gave it another id.
        const [renewed] = await node.users.listTrustedDevices(user, now);
        await second.users.forgetTrustedDevice(user, renewed?.id ?? '');
        expect(await needsCode(node, device)).toBe(true);
        expect(await node.users.listTrustedDevices(user, now)).toEqual([]);
      });

      test('needs a code again after a change of the password', async () => {
        const now = startOfTime();
        const { node } = await openNew();
        const { other, device } = await trusted(node, now);
        const passwords = { currentPassword: ada.password, newPassword: 'another long passphrase' };
        await node.credentials.changePassword(other.asking(), passwords);
        expect(await needsCode(node, device, passwords.newPassword)).toBe(true);
      });

      test('needs a code again after a reset of the password, but not after a wrong link', async () => {
        const now = startOfTime();
        const { node } = await openNew();
        const { device } = await trusted(node, now);
        const newPassword = 'another long passphrase';
        const token = await node.credentials.startPasswordReset(ada.email);
        await expect(
          node.credentials.resetPassword({ token: `${token}x`, newPassword }),
        ).rejects.toMatchObject({ code: 'not_found' });
        expect(await needsCode(node, device)).toBe(false);
        expect(await node.credentials.resetPassword({ token, newPassword })).toBe(ada.email);
        expect(await needsCode(node, device, newPassword)).toBe(true);
      });

      test('needs a code again with another second factor', async () => {
        const now = startOfTime();
        const { node } = await openNew();
        const { other, device } = await trusted(node, now);
        other.keep(await node.credentials.stopSecondFactor(other.asking()));
        expect(await needsCode(node, device)).toBe(false);
        await addSecondFactor(node, other);
        expect(await needsCode(node, device)).toBe(true);
        expect(await findEmail(node, device)).toBeUndefined();
      });
    });
});
