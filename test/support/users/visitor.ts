/** The sign-in functions that the dashboard's routes call, without HTTP. */
import { randomInt } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import { pino } from 'pino';
import {
  AuthProvider,
  type AuthRequest,
  type AuthResponse,
  type UsersOptions,
} from '../../../src/auth/auth-provider.js';
import { Credentials } from '../../../src/auth/credentials.js';
import { ADDRESS_HEADER } from '../../../src/auth/names.js';
import { Users } from '../../../src/auth/users.js';
import type { Store } from '../../../src/storage/ports/store.js';

export interface Node {
  readonly users: Users;
  readonly credentials: Credentials;
}

/** The part of a server that signs users in. */
export function usersOf(store: Store, more: Partial<UsersOptions> = {}): Node {
  const authProvider = new AuthProvider({
    store,
    clock: { now: () => Date.now() },
    publicUrl: undefined,
    basePath: '',
    secret: undefined,
    singleSignOn: undefined,
    randomInt: (max) => randomInt(max),
    log: pino({ level: 'silent' }),
    ...more,
  });
  return { users: new Users(authProvider, store), credentials: new Credentials(authProvider) };
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

/** The codes that an authenticator app shows, for the URI in a QR code. */
export function codesOf(uri: string): (timeMs: number) => string {
  const secret = new URL(uri).searchParams.get('secret') ?? '';
  const totp = new TOTP({ secret: Secret.fromBase32(secret), digits: 6, period: 30, algorithm: 'SHA1' });
  return (timestamp) => totp.generate({ timestamp });
}
