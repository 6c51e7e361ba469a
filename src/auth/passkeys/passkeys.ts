/** The passkeys of users: adding, removing, and signing in with them. */
import { CallerStatsError } from '../../domain/errors.js';
import type { AuthProvider, AuthRequest, AuthResponse } from '../auth-provider.js';
import { forgetLasting } from '../second-factor/trusted-devices.js';
import type { Session, User, Users } from '../users.js';
import type { Assertion, Registration } from './ceremonies.js';
import { findCredential, findPasskeys, removePasskeys, renamePasskey } from './passkey-rows.js';
import type { RelyingParty } from './relying-party.js';

export interface Passkey {
  readonly id: string;
  readonly name: string;
  /** The host that it works for. */
  readonly host: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** Null if it has not been used since it was added. */
  readonly lastUsedAt: number | null;
}

/** The user whom a passkey signed in, and the name of the passkey. */
interface SignedInWithPasskey extends AuthResponse {
  readonly email: string;
  readonly passkey: string;
}

export class Passkeys {
  readonly #authProvider: AuthProvider;
  readonly #users: Users;

  constructor(authProvider: AuthProvider, users: Users) {
    this.#authProvider = authProvider;
    this.#users = users;
  }

  /** The user's passkeys, oldest first. */
  async list(user: Pick<User, 'id'>): Promise<Passkey[]> {
    const rows = await findPasskeys((await this.#authProvider.context()).adapter, user.id);
    return rows.map(({ id, name, relyingPartyId, createdAt, lastUsedAt }) => ({
      id,
      name,
      host: relyingPartyId,
      createdAt: createdAt.getTime(),
      lastUsedAt: lastUsedAt?.getTime() ?? null,
    }));
  }

  /** The options for the browser that creates a passkey. Throws `invalid` if the user has too many. */
  async startAdding(authRequest: AuthRequest, relyingParty: RelyingParty) {
    const body = { relyingParty };
    return this.#authProvider.call(authRequest, (api, options) => api.startPasskey({ body, ...options }));
  }

  /**
   * Adds the passkey that the browser created. Ends all other sessions, which began without it, the trust in devices and the connections of
   * applications.
   * Throws `invalid` if it does not fit the options, or came too late.
   */
  async add(authRequest: AuthRequest, body: Registration): Promise<AuthResponse> {
    return this.#authProvider.call(authRequest, (api, options) => api.addPasskey({ body, ...options }));
  }

  /** The options for the browser that proves again who the user is. Throws `not_found` if no passkey of the user works here. */
  async startChecking(authRequest: AuthRequest, relyingParty: RelyingParty) {
    const body = { relyingParty };
    return this.#authProvider.call(authRequest, (api, options) => api.startCheck({ body, ...options }));
  }

  /** Throws `wrong_credentials` unless a passkey of the user signed the challenge. */
  async check(authRequest: AuthRequest, body: Assertion): Promise<AuthResponse> {
    return this.#authProvider.call(authRequest, (api, options) => api.checkPasskey({ body, ...options }));
  }

  /** Throws `not_found` if the user has no such passkey. */
  async rename(user: User, passkey: { readonly id: string; readonly name: string }): Promise<void> {
    if (!(await renamePasskey((await this.#authProvider.context()).adapter, user.id, passkey)))
      throw noSuchPasskey();
  }

  /**
   * Removes a passkey and returns it. Also ends all other sessions, which it may have begun, the trust in devices and the connections of
   * applications. Throws `not_found` as above.
   */
  async remove(
    { user, session }: { readonly user: User; readonly session: Session },
    id: string,
  ): Promise<{ readonly name: string }> {
    const { adapter } = await this.#authProvider.context();
    const found = (await findPasskeys(adapter, user.id)).find((one) => one.id === id);
    if (found === undefined || (await removePasskeys(adapter, user.id, id)) === 0) throw noSuchPasskey();
    await forgetLasting(adapter, user.id);
    await this.#users.endOtherSessions(user, session);
    return found;
  }

  /** The address of the user who has this credential. */
  async findOwner(credentialId: string): Promise<string | undefined> {
    const { adapter, internalAdapter } = await this.#authProvider.context();
    const passkey = await findCredential(adapter, credentialId);
    return passkey === null ? undefined : (await internalAdapter.findUserById(passkey.userId))?.email;
  }

  /** The options for the browser that signs in with any passkey. Stores nothing. */
  async startSignIn(authRequest: AuthRequest, relyingParty: RelyingParty) {
    const body = { relyingParty };
    return this.#authProvider.call(authRequest, (api, options) =>
      api.startPasskeySignIn({ body, ...options }),
    );
  }

  /** Signs in without a password. Throws `wrong_credentials` unless the passkey has verified the user. */
  async signIn(authRequest: AuthRequest, body: Assertion): Promise<SignedInWithPasskey> {
    return this.#users.replaceSession(authRequest, async () => {
      const { cookies, response } = await this.#authProvider.call(authRequest, (api, options) =>
        api.signInWithPasskey({ body, ...options }),
      );
      return { cookies, ...response };
    });
  }

  /** What may answer the second step of this browser. Throws `wrong_credentials` if it has none. */
  async startSecondFactor(authRequest: AuthRequest, relyingParty: RelyingParty | undefined) {
    const body = { relyingParty };
    return this.#authProvider.call(authRequest, (api, options) => api.startSecondStep({ body, ...options }));
  }

  /** The second step of signing in, with a passkey. */
  async verifySecondFactor(
    authRequest: AuthRequest,
    body: Assertion & { readonly trustDevice: boolean },
  ): Promise<SignedInWithPasskey> {
    const { cookies, response } = await this.#authProvider.call(authRequest, (api, options) =>
      api.finishSecondStep({ body, ...options }),
    );
    return { cookies, ...response };
  }
}

function noSuchPasskey(): CallerStatsError {
  return new CallerStatsError('not_found', 'There is no such passkey; it was removed.');
}
