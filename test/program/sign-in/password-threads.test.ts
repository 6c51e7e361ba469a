/** The threads that hash passwords. */
import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PasswordHasher } from '../../../src/auth/passwords/password-hasher.js';
import { strangerSignInsMax } from '../../../src/domain/limits.js';
import { whenOver } from '../../support/cleanup.js';
import { placeFactories } from '../../support/storage/store.js';
import { temporaryFolder } from '../../support/temporary.js';
import { runOnUsers } from '../../support/users/people.js';
import { usersOf, Visitor } from '../../support/users/visitor.js';

/** The threads of libuv, which read files and compress bodies for the whole process. */
const sharedThreads = 4;

/** Makes all shared threads wait until the returned function is called: opening a pipe waits for its other end. */
async function occupySharedThreads(): Promise<() => Promise<void>> {
  const folder = await temporaryFolder();
  const pipes = Array.from({ length: sharedThreads }, (_, at) => join(folder, `pipe${at}`));
  execFileSync('mkfifo', pipes);
  const opening = pipes.map((pipe) => open(pipe, 'r'));
  return async () => {
    const ends: number[] = [];
    for (const pipe of pipes) {
      // Fails until the thread waits at the pipe.
      for (;;) {
        try {
          ends.push(openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK));
          break;
        } catch {
          await new Promise(setImmediate);
        }
      }
    }
    for (const file of await Promise.all(opening)) await file.close();
    for (const end of ends) closeSync(end);
  };
}

test('passwords are hashed and checked while all shared threads are busy', async () => {
  const hasher = new PasswordHasher();
  // Starting a thread reads files.
  await hasher.hash('a password to start with');
  whenOver(await occupySharedThreads());
  const hash = await hasher.hash('a long enough passphrase');
  expect(await hasher.verify({ password: 'a long enough passphrase', hash })).toBe(true);
  expect(await hasher.verify({ password: 'a long enough passphrasf', hash })).toBe(false);
});

test('a lane refuses more than its places and gives a place back after an error', async () => {
  const hasher = new PasswordHasher();
  const ends: (() => void)[] = [];
  const inside = Array.from({ length: strangerSignInsMax }, () =>
    hasher.inLane(
      'stranger',
      () => new Promise((_resolve, reject) => ends.push(() => reject(new Error('wrong')))),
    ),
  );
  await expect(hasher.inLane('stranger', async () => {})).rejects.toMatchObject({ code: 'busy' });
  expect(await hasher.inLane('known', async () => 'a place')).toBe('a place');
  ends[0]?.();
  await expect(inside[0]).rejects.toThrow('wrong');
  expect(await hasher.inLane('stranger', async () => 'a place')).toBe('a place');
  for (const end of ends) end();
  await Promise.allSettled(inside);
});

test('a malformed hash is an error and does not end the thread', async () => {
  const hasher = new PasswordHasher();
  const whole = await hasher.hash('x');
  const cut = [whole.slice(0, -1), whole.replace('ln=15', 'ln=99'), whole.replace('ln=15,', ''), `${whole}0`];
  for (const hash of ['', 'salt', 'salt:', ':00', 'salt:00', 'salt:zz', ...cut])
    await expect(hasher.verify({ password: 'x', hash })).rejects.toThrow('malformed');
  expect(await hasher.verify({ password: 'x', hash: whole })).toBe(true);
});

test('a password is compared exactly as it was received; in all its forms, if an earlier version hashed it', async () => {
  const { open } = await (placeFactories[0]?.[1] ?? expect.fail)();
  const store = await open();
  const { users, credentials, authProvider } = usersOf(store);
  const email = 'ada@example.org';
  const storedHash = async () =>
    String((await runOnUsers(store, 'SELECT password FROM {user_credential}')).rows[0]?.['password']);
  const signIn = (password: string) => users.signIn(new Visitor().asking(), { email, password });
  const refused = { code: 'wrong_credentials' };
  // They look the same, or nearly, and have one NFKC form.
  const [composed = '', decomposed = '', wide = ''] = ['caf\u00e9', 'cafe\u0301', '\uff43af\u00e9'].map(
    (word) => `${word} au lait, please`,
  );
  const visitor = new Visitor();
  visitor.keep(await users.create(visitor.asking(), { email, name: 'Ada', password: decomposed }));
  await signIn(decomposed);
  for (const other of [composed, wide, decomposed.toUpperCase(), `${decomposed} `])
    await expect(signIn(other)).rejects.toMatchObject(refused);
  const older = await authProvider.passwords.hash(composed, 'normalized');
  await runOnUsers(store, 'UPDATE {user_credential} SET password = ?', [older]);
  for (const form of [decomposed, composed, wide]) await signIn(form);
  expect(await storedHash()).toBe(older);
  const newPassword = `${composed} again`;
  await credentials.changePassword(visitor.asking(), { currentPassword: wide, newPassword });
  await expect(signIn(`${decomposed} again`)).rejects.toMatchObject(refused);
  await signIn(newPassword);
});
