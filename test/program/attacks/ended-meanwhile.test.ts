/**
 * Whatever ends all sessions of a person also ends what somebody else has begun with the old password and not finished: a password takes
 * long to check. Each way to get a session is interrupted before each of its statements, and interrupts each statement of what ends it.
 */
import { describe, expect, test } from 'vitest';
import type { Tokens } from '../../../src/auth/applications/applications.js';
import type { Store } from '../../../src/storage/ports/store.js';
import { placeFactories } from '../../support/storage/store.js';
import { allowApplication } from '../../support/users/application.js';
import { runOnUsers } from '../../support/users/people.js';
import { SoftwareAuthenticator } from '../../support/users/software-authenticator.js';
import {
  codeNow,
  createUser,
  findEmail,
  type Node,
  sessionOf,
  usersOf,
  Visitor,
  withSecondFactor,
} from '../../support/users/visitor.js';
import { isDeep } from '../../support/volume.js';

const [oldPassword, newPassword, thiefs] = ['the old passphrase', 'the new passphrase', "the thief's phrase"];
const relyingParty = { id: 'localhost', origin: 'http://localhost:4000' };
const statementsMax = 60;

interface Person {
  readonly email: string;
  readonly name: string;
  readonly password: string;
}

/** Has begun to get in: `finish` gets a session or token, or makes what opens the account. */
type Begin = (
  node: Node,
  person: Person,
  store: Store,
) => Promise<{
  readonly finish: (node: Node) => Promise<unknown>;
  /** Whether what was got is good for anything, besides the account's sessions. */
  readonly isIn?: () => Promise<boolean>;
}>;

const signedIn = async (node: Node, person: Person) => {
  const thief = new Visitor();
  thief.keep(await node.users.signIn(thief.asking(), person));
  return thief;
};

const WAYS: Readonly<Record<string, Begin>> = {
  'signing in': async (node, person) => {
    await createUser(node, person);
    const thief = new Visitor();
    return { finish: async ({ users }) => thief.keep(await users.signIn(thief.asking(), person)) };
  },
  'the second step': async (node, person) => {
    const { backupCodes } = await withSecondFactor(node, person);
    const thief = await signedIn(node, person);
    const step = { code: backupCodes[0] ?? '', trustDevice: false };
    return {
      finish: async ({ users }) => thief.keep(await users.verifySecondFactor(thief.asking(), step)),
    };
  },
  'typing the password again': async (node, person) => {
    await createUser(node, person);
    const thief = await signedIn(node, person);
    return { finish: async ({ users }) => thief.keep(await users.renewSession(thief.asking())) };
  },
  'another password': async (node, person) => {
    await createUser(node, person);
    const thief = await signedIn(node, person);
    const passwords = { currentPassword: person.password, newPassword: thiefs };
    return {
      finish: async ({ credentials }) =>
        thief.keep(await credentials.changePassword(thief.asking(), passwords)),
    };
  },
  'a second factor': async (node, person) => {
    await createUser(node, person);
    const thief = await signedIn(node, person);
    const { uri } = await node.credentials.startSecondFactor(thief.asking());
    const code = codeNow(uri);
    return {
      finish: async ({ credentials }) =>
        thief.keep(await credentials.confirmSecondFactor(thief.asking(), code)),
    };
  },
  'a passkey': async (node, person) => {
    await createUser(node, person);
    const thief = await signedIn(node, person);
    const options = thief.keep(await node.passkeys.startAdding(thief.asking(), relyingParty)).response;
    const response = new SoftwareAuthenticator(relyingParty.origin).create(options);
    const passkey = { name: 'Laptop', response, relyingParty };
    return {
      finish: async ({ passkeys }) => thief.keep(await passkeys.add(thief.asking(), passkey)),
    };
  },
};

/** An application that a thief allowed to read: `get` gets its tokens with the code, or new ones with those. */
const application =
  (get: 'first' | 'next'): Begin =>
  async (node, person, store) => {
    await createUser(node, person);
    const { user } = await sessionOf(node, await signedIn(node, person));
    const { exchange, refresh, reads } = await allowApplication(node, store, user.id);
    const before = get === 'first' ? undefined : await exchange();
    let tokens: Tokens | undefined;
    return {
      finish: async (on) => {
        tokens = await (before === undefined ? exchange(on) : refresh(before, on));
      },
      isIn: () => reads(tokens),
    };
  };

/** What ends all sessions: `prepare` is the part of it that comes before. */
const ENDS: Readonly<
  Record<string, (node: Node, person: Person) => Promise<(node: Node) => Promise<unknown>>>
> = {
  'a link': async (node, { email }) => {
    const token = await node.credentials.startPasswordReset(email);
    return ({ credentials }) => credentials.resetPassword({ token, newPassword });
  },
  'an operator': async (_node, { email }) => {
    return ({ credentials }) => credentials.removeAll(email);
  },
};

/** The same store, which does `work` once before the statement of users with this number. */
function interrupted(store: Store, at: number, work: () => Promise<unknown>) {
  let number = 0;
  const state = { isReached: false };
  const users: Store['users'] = {
    dialect: store.users.dialect,
    schema: store.users.schema,
    run: async (statement) => {
      if (number++ === at) {
        state.isReached = true;
        await work();
      }
      return store.users.run(statement);
    },
  };
  const paused = new Proxy(store, {
    get: (target, name) => {
      if (name === 'users') return users;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return { node: usersOf(paused), state };
}

const isDone = (work: Promise<unknown>) =>
  work.then(
    () => true,
    () => false,
  );

const ALL = {
  ...WAYS,
  'the code of an application': application('first'),
  'its next token': application('next'),
};

const ways = Object.keys(ALL).flatMap((way) => Object.keys(ENDS).map((end) => [way, end] as const));

describe.each(isDeep ? placeFactories : placeFactories.slice(0, 1))('%s:', (_kind, factory) => {
  test.each(ways)('%s does not outlast %s', async (way, end) => {
    const { open } = await factory();
    const store = await open();
    const node = usersOf(store);
    let number = 0;
    const start = async () => {
      const person = { email: `person${number++}@example.org`, name: 'Ada', password: oldPassword };
      const begun = await ((ALL as typeof WAYS)[way] as Begin)(node, person, store);
      const finishEnd = await (ENDS[end] as (typeof ENDS)[string])(node, person);
      return { person, ...begun, end: finishEnd };
    };
    const expectEnded = async (
      { person: { email }, isIn }: Awaited<ReturnType<typeof start>>,
      where: string,
    ) => {
      expect(await isIn?.(), where).not.toBe(true);
      const { rows } = await runOnUsers(
        store,
        'SELECT {user_session}.id FROM {user_session} JOIN {user_account} ON {user_account}.id = user_id WHERE email = ?',
        [email],
      );
      expect(rows, where).toEqual([]);
      for (const password of [oldPassword, thiefs])
        expect(await isDone(node.users.signIn(new Visitor().asking(), { email, password })), where).toBe(
          false,
        );
    };
    for (let at = 0, isReached = true; isReached && at < statementsMax; at++) {
      const begun = await start();
      let isEnded = false;
      const { node: slow, state } = interrupted(store, at, async () => {
        isEnded = await isDone(begun.end(node));
      });
      await isDone(begun.finish(slow));
      isReached = state.isReached;
      // A new password ends links that were not used before.
      if (isEnded) await expectEnded(begun, `ended before statement ${at}`);
    }
    for (let at = 0, isReached = true; isReached && at < statementsMax; at++) {
      const begun = await start();
      const { node: slow, state } = interrupted(store, at, () => isDone(begun.finish(node)));
      const isEnded = await isDone(begun.end(slow));
      isReached = state.isReached;
      if (isEnded) await expectEnded(begun, `done before statement ${at} of the end`);
    }
  });

  const failing = (store: Store, at: number) =>
    interrupted(store, at, () => Promise.reject(new Error('the power failed')));
  const newPerson = (at: number) => ({
    email: `cut${at}@example.org`,
    name: 'Ada',
    password: oldPassword,
  });

  test('a removed link to the provider leaves nothing else, or can be removed again', async () => {
    const { open } = await factory();
    const store = await open();
    const node = usersOf(store);
    const rowsOf = async (table: string, email: string) =>
      (
        await runOnUsers(
          store,
          `SELECT {${table}}.* FROM {${table}} JOIN {user_account} ON {user_account}.id = user_id WHERE email = ?`,
          [email],
        )
      ).rows;
    for (let at = 0, isReached = true; isReached && at < statementsMax; at++) {
      const { email } = newPerson(at);
      await createUser(node, newPerson(at));
      await runOnUsers(
        store,
        `INSERT INTO {user_credential} (id, user_id, account_id, provider_id, created_at, updated_at)
         SELECT ?, id, ?, 'sso', created_at, created_at FROM {user_account} WHERE email = ?`,
        [`link ${at}`, `u${at}`, email],
      );
      const { node: cut, state } = failing(store, at);
      await isDone(cut.users.unlinkProvider(email));
      isReached = state.isReached;
      const left = await rowsOf('user_credential', email);
      if (!left.some((row) => row['provider_id'] === 'sso'))
        expect([left, await rowsOf('user_session', email)], `cut before statement ${at}`).toEqual([[], []]);
    }
  });

  test('no session and no link outlasts a new password by a link that was cut off', async () => {
    const { open } = await factory();
    const store = await open();
    const node = usersOf(store);
    for (let at = 0, isReached = true; isReached && at < statementsMax; at++) {
      const { email } = newPerson(at);
      await createUser(node, newPerson(at));
      const thief = await signedIn(node, newPerson(at));
      const [token, thiefsToken] = [
        await node.credentials.startPasswordReset(email),
        await node.credentials.startPasswordReset(email),
      ];
      const { node: cut, state } = failing(store, at);
      await isDone(cut.credentials.resetPassword({ token, newPassword }));
      isReached = state.isReached;
      if (!(await isDone(node.users.signIn(new Visitor().asking(), { email, password: newPassword }))))
        continue;
      expect(await findEmail(node, thief), `cut before statement ${at}`).toBeUndefined();
      const again = node.credentials.resetPassword({ token: thiefsToken, newPassword: thiefs });
      expect(await isDone(again), `cut before statement ${at}`).toBe(false);
    }
  });

  test.each(['another password', 'a second factor', 'a passkey'])(
    'no other session and no connection of an application outlasts %s that was cut off',
    async (way) => {
      const { open } = await factory();
      const store = await open();
      const node = usersOf(store);
      for (let at = 0, isReached = true; isReached && at < statementsMax; at++) {
        const person = newPerson(at);
        const { finish } = await (WAYS[way] as Begin)(node, person, store);
        const other = await signedIn(node, person);
        const { exchange, reads } = await allowApplication(
          node,
          store,
          (await sessionOf(node, other)).user.id,
        );
        const tokens = await exchange();
        expect(await reads(tokens)).toBe(true);
        const { node: cut, state } = failing(store, at);
        await isDone(finish(cut));
        isReached = state.isReached;
        const found = (await store.directory.findUsers([person.email])).get(person.email);
        const isOldOpen = await isDone(node.users.signIn(new Visitor().asking(), person));
        if (found?.secondFactor === true || !isOldOpen)
          expect([await findEmail(node, other), await reads(tokens)], `cut before statement ${at}`).toEqual([
            undefined,
            false,
          ]);
      }
    },
  );

  test('codes whose turning off was cut off are not asked for, or work', async () => {
    const { open } = await factory();
    const store = await open();
    const node = usersOf(store);
    for (let at = 0, isReached = true; isReached && at < statementsMax; at++) {
      const person = newPerson(at);
      const { visitor, backupCodes } = await withSecondFactor(node, person);
      const { node: cut, state } = failing(store, at);
      await isDone(cut.credentials.stopSecondFactor(visitor.asking()));
      isReached = state.isReached;
      const later = new Visitor();
      const { secondFactor } = later.keep(await node.users.signIn(later.asking(), person));
      const step = { code: backupCodes[0] ?? '', trustDevice: false };
      if (secondFactor)
        expect(await isDone(node.users.verifySecondFactor(later.asking(), step)), `${at}`).toBe(true);
    }
  });

  test('of two changes of a password at once, one is made', async () => {
    const { open } = await factory();
    const store = await open();
    const node = usersOf(store);
    for (let at = 0, isReached = true; isReached && at < statementsMax; at++) {
      const person = { email: `both${at}@example.org`, name: 'Ada', password: oldPassword };
      const owner = await createUser(node, person);
      const thief = await signedIn(node, person);
      const change = (visitor: Visitor, to: string) => async (on: Node) =>
        visitor.keep(
          await on.credentials.changePassword(visitor.asking(), {
            currentPassword: oldPassword,
            newPassword: to,
          }),
        );
      let first = false;
      const { node: slow, state } = interrupted(store, at, async () => {
        first = await isDone(change(owner, newPassword)(node));
      });
      const second = await isDone(change(thief, thiefs)(slow));
      isReached = state.isReached;
      if (first) expect(second, `before statement ${at}`).toBe(false);
      if (first) expect((await sessionOf(node, owner)).user.email).toBe(person.email);
    }
  });
});
