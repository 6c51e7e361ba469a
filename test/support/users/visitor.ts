/** The sign-in functions that the dashboard's routes call, without HTTP. */
import { randomInt } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import { pino } from 'pino';
import { onTestFinished, vi } from 'vitest';
import {
  AuthProvider,
  type AuthRequest,
  type AuthResponse,
  type UsersOptions,
} from '../../../src/auth/auth-provider.js';
import { Credentials } from '../../../src/auth/credentials.js';
import { ADDRESS_HEADER } from '../../../src/auth/names.js';
import { Passkeys } from '../../../src/auth/passkeys/passkeys.js';
import { Users } from '../../../src/auth/users.js';
import type { Store } from '../../../src/storage/ports/store.js';

export interface Node {
  readonly authProvider: AuthProvider;
  readonly users: Users;
  readonly credentials: Credentials;
  readonly passkeys: Passkeys;
}

/** The part of a server that signs users in. */
export function usersOf(store: Store, more: Partial<UsersOptions> = {}): Node {
  const authProvider = new AuthProvider({
    store,
    clock: { now: () => Date.now() },
    publicUrl: undefined,
    basePath: '',
    secrets: async () => [],
    singleSignOn: undefined,
    randomInt: (max) => randomInt(max),
    log: pino({ level: 'silent' }),
    ...more,
  });
  const users = new Users(authProvider, store.directory);
  const credentials = new Credentials(authProvider);
  return { authProvider, users, credentials, passkeys: new Passkeys(authProvider, users) };
}

/** A client that keeps the cookies it receives. */
export class Visitor {
  readonly #cookies = new Map<string, string>();

  asking(): AuthRequest {
    const cookie = [...this.#cookies].map((pair) => pair.join('=')).join('; ');
    const headers = new Headers({ [ADDRESS_HEADER]: '192.0.2.1', 'user-agent': 'a test' });
    if (cookie !== '') headers.set('cookie', cookie);
    return { headers, secure: false };
  }

  /** The cookies by name. */
  get cookies(): Map<string, string> {
    return this.#cookies;
  }

  /** A client with the same cookies, which receives its own from now on. */
  copy(): Visitor {
    const copy = new Visitor();
    for (const [name, value] of this.#cookies) copy.#cookies.set(name, value);
    return copy;
  }

  /** Stores the cookies of a response and returns it. */
  keep<T extends AuthResponse>(answered: T): T {
    for (const cookie of answered.cookies) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (/; Max-Age=0/i.test(cookie)) this.#cookies.delete(name);
      else this.#cookies.set(name, value);
    }
    return answered;
  }
}

/** The codes that an authenticator app shows, for the URI in a QR code; of an older app, which knows only SHA-1, if asked. */
export function codesOf(uri: string, asked?: 'SHA1'): (timeMs: number) => string {
  const given = new URL(uri).searchParams;
  const algorithm = asked ?? given.get('algorithm') ?? 'SHA1';
  const secret = Secret.fromBase32(given.get('secret') ?? '');
  const totp = new TOTP({ secret, digits: 6, period: 30, algorithm });
  return (timestamp) => totp.generate({ timestamp });
}

/** The code that the app shows now. Stops the clock, because a code does not outlive its half minute. */
export function codeNow(uri: string): string {
  travel(Date.now());
  return codesOf(uri)(Date.now());
}

export const ada = { email: 'ada@example.org', name: 'Ada', password: 'a long enough passphrase' };

/** Creates an account and returns its browser. */
export async function createUser({ users }: Node, who = ada): Promise<Visitor> {
  const visitor = new Visitor();
  visitor.keep(await users.create(visitor.asking(), who));
  return visitor;
}

/** The user and session of a visitor who is signed in. */
export async function sessionOf({ users }: Node, visitor: Visitor) {
  const found = await users.findSession(visitor.asking());
  if (found === undefined) throw new Error('the visitor is not signed in');
  return visitor.keep(found);
}

/** The address of the user, if the visitor is signed in. */
export async function findEmail({ users }: Node, visitor: Visitor): Promise<string | undefined> {
  const found = await users.findSession(visitor.asking());
  return found && visitor.keep(found).user.email;
}

/** Creates an account with a second factor. Its code of this half minute is used. */
export async function withSecondFactor(node: Node, who = ada) {
  const visitor = await createUser(node, who);
  const { code, backupCodes } = await addSecondFactor(node, visitor);
  return { visitor, code, backupCodes };
}

export async function addSecondFactor({ credentials }: Node, visitor: Visitor) {
  const { uri, backupCodes } = await credentials.startSecondFactor(visitor.asking());
  visitor.keep(await credentials.confirmSecondFactor(visitor.asking(), codeNow(uri)));
  return { code: codesOf(uri), backupCodes };
}

/** The code of the error that a call throws; `accepted` if it throws none. */
export function codeOf(result: Promise<unknown>): Promise<string> {
  return result.then(
    () => 'accepted',
    (error: { code?: string }) => error.code ?? String(error),
  );
}

/** Sets the time for the sign-in library until the test ends. */
export function travel(timeMs: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: timeMs });
  onTestFinished(() => void vi.useRealTimers());
}
