/** Users and their sessions. */
import { CallerStatsError } from '../domain/errors.js';
import type { Directory } from '../storage/ports/directory.js';
import type { AuthProvider, AuthRequest, AuthResponse } from './auth-provider.js';
import { checkPassword, getErrorCode, translateErrors } from './errors.js';
import { COOKIE_PREFIX, PROVIDER_ID, SINGLE_SIGN_ON_CALLBACK } from './names.js';
import { findRenewedForm } from './passwords/password-hash.js';
import {
  forgetPending,
  forgetTrustedDevices,
  listTrustedDevices,
  type TrustedDevice,
} from './second-factor/trusted-devices.js';
import type { Library } from './sign-in-library.js';
import { removeCredentials } from './single-sign-on.js';
import { withStorages } from './storages.js';

export interface User {
  readonly id: string;
  /** In lower case. */
  readonly email: string;
  readonly name: string;
  /** Whether a provider of single sign-on has proved the address. */
  readonly isVerified: boolean;
  /** Whether the user has codes of an authenticator app. */
  readonly codes: boolean;
}

export interface Session {
  readonly id: string;
  readonly address: string | null;
  readonly userAgent: string | null;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  /** Whether the provider of single sign-on checked a second factor, and is trusted to. */
  readonly providerFactor: boolean;
}

export class Users {
  readonly #authProvider: AuthProvider;
  readonly #directory: Pick<Directory, 'findUsers'>;

  constructor(authProvider: AuthProvider, directory: Pick<Directory, 'findUsers'>) {
    this.#authProvider = authProvider;
    this.#directory = directory;
  }

  /** The user and session of the request; undefined if nobody is signed in. */
  async findSession(
    authRequest: AuthRequest,
  ): Promise<(AuthResponse & { readonly user: User; readonly session: Session }) | undefined> {
    if (!authRequest.headers.get('cookie')?.includes(`${COOKIE_PREFIX}.session_token`)) return undefined;
    const { cookies, response } = await this.#authProvider.call(authRequest, (api, options) =>
      api.getSession(options),
    );
    if (response === null) return undefined;
    const { id, email, name, emailVerified, twoFactorEnabled }: LibraryUser = response.user;
    const user = { id, email, name, isVerified: emailVerified, codes: twoFactorEnabled === true };
    return { user, session: toSession(response.session), cookies };
  }

  /** Throws the same error, with the message `wrong`, for an unknown address and for a wrong password. */
  async signIn(
    authRequest: AuthRequest,
    { email, password }: { readonly email: string; readonly password: string },
    wrong = 'The e-mail address or the password is wrong.',
  ): Promise<AuthResponse & { readonly secondFactor: boolean }> {
    const body = { email, password, rememberMe: true };
    const { cookies, response } = await this.replaceSession(authRequest, async () => {
      const before = await this.#findPasswordHash(email);
      const answered = await checkPassword(
        () => this.#authProvider.call(authRequest, (api, options) => api.signInEmail({ body, ...options })),
        wrong,
      );
      await this.#requireStillRight(email, { password, before, began: answered.response }, wrong);
      return answered;
    });
    await this.#renewHash(email, password);
    return { secondFactor: 'secondFactor' in response, cookies };
  }

  async #findPasswordHash(email: string): Promise<string | undefined> {
    const { internalAdapter } = await this.#authProvider.context();
    const found = await internalAdapter.findUserByEmail(email, { includeAccounts: true });
    return found?.accounts.find(({ providerId }) => providerId === 'credential')?.password ?? undefined;
  }

  /**
   * Ends the session that began with a password which was replaced or removed while it was checked: that takes long, and whoever replaces
   * it has ended all sessions by now.
   */
  async #requireStillRight(
    email: string,
    {
      password,
      before,
      began,
    }: { readonly password: string; readonly before: string | undefined; readonly began: object },
    wrong: string,
  ): Promise<void> {
    const hash = await this.#findPasswordHash(email);
    if (hash === before) return;
    if (hash !== undefined && (await this.#authProvider.passwords.verify({ password, hash }))) return;
    const { internalAdapter } = await this.#authProvider.context();
    if ('token' in began) await internalAdapter.deleteSession(String(began.token));
    throw new CallerStatsError('wrong_credentials', wrong);
  }

  /** Signs in with `work`, then ends the session that the browser had before. */
  async replaceSession<T>(authRequest: AuthRequest, work: () => Promise<T>): Promise<T> {
    const before = await this.findSession(authRequest);
    const signedIn = await work();
    await this.#endReplaced(before);
    return signedIn;
  }

  /**
   * The second step of signing in, with a code from the authenticator or a backup code. Throws `wrong_credentials` for a wrong
   * one, and `too_many_attempts` for `codeLockSeconds` after `guessesMax` of them in a row.
   */
  async verifySecondFactor(
    authRequest: AuthRequest,
    body: { readonly code: string; readonly trustDevice: boolean },
  ): Promise<AuthResponse & { readonly email: string; readonly kind: 'a code' | 'a backup code' }> {
    const { cookies, response } = await this.#authProvider.call(authRequest, (api, options) =>
      api.verifyCode({ body, ...options }),
    );
    return { cookies, ...response };
  }

  /** After the user proved again who they are: gives the session, if it has not ended, another token. */
  async renewSession(authRequest: AuthRequest): Promise<AuthResponse> {
    const { cookies, response } = await this.#authProvider.call(authRequest, (api, options) =>
      api.renewSession({ body: {}, ...options }),
    );
    // The library would remove the cookie of a session that has ended, also if it was just replaced.
    return { cookies: response.ok ? cookies : [] };
  }

  async signOut(authRequest: AuthRequest): Promise<AuthResponse> {
    return this.#authProvider.call(authRequest, (api, options) => api.signOut(options));
  }

  /** Whether an account has this address. */
  async exists(email: string): Promise<boolean> {
    return (await this.#directory.findUsers([email])).has(email);
  }

  /** Creates an account and signs in. Throws `already_exists` for a known address, `invalid` for a password that is easy to guess. */
  async create(
    authRequest: AuthRequest,
    { email, name, password }: { readonly email: string; readonly name: string; readonly password: string },
  ): Promise<AuthResponse> {
    const owner = { email, name };
    await this.#authProvider.requireGoodPassword(password, { owner, field: 'password' });
    const body = { email, name, password };
    try {
      return await translateErrors(() =>
        this.#authProvider.call(authRequest, (api, options) => api.signUpEmail({ body, ...options })),
      );
    } catch (error) {
      // The library does not report why the insert failed. The usual reason is a concurrent sign-up.
      if (getErrorCode(error) !== 'FAILED_TO_CREATE_USER') throw error;
      throw (await this.exists(email))
        ? new CallerStatsError('already_exists', 'There is an account with this e-mail address already.')
        : new CallerStatsError('unavailable', 'The account could not be written.', { cause: error });
    }
  }

  /** Deletes the account of the address, if it exists. */
  async remove(email: string): Promise<void> {
    const { internalAdapter } = await this.#authProvider.context();
    const found = await internalAdapter.findUserByEmail(email);
    if (found !== null) await internalAdapter.deleteUser(found.user.id);
  }

  async hasPassword(user: User): Promise<boolean> {
    const { internalAdapter } = await this.#authProvider.context();
    const accounts = await internalAdapter.findAccounts(user.id);
    return accounts.some(({ providerId }) => providerId === 'credential');
  }

  /** Whether the user has a second factor, or the provider of single sign-on checked one in this session. */
  async hasSecondFactor(user: User, { providerFactor }: Session): Promise<boolean> {
    if (providerFactor && this.#authProvider.trustsProvider) return true;
    return this.ownsSecondFactor(user);
  }

  /** Whether the user has passkeys, or codes of an app. */
  async ownsSecondFactor({ email }: User): Promise<boolean> {
    return (await this.#directory.findUsers([email])).get(email)?.secondFactor === true;
  }

  async rename(authRequest: AuthRequest, name: string): Promise<void> {
    await this.#authProvider.call(authRequest, (api, options) =>
      api.updateUser({ body: { name }, ...options }),
    );
  }

  /** The user's sessions, newest first. */
  async listSessions(authRequest: AuthRequest): Promise<Session[]> {
    const { response } = await this.#authProvider.call(authRequest, (api, options) =>
      api.listSessions(options),
    );
    return response.map(toSession).sort((a, b) => b.createdAt - a.createdAt);
  }

  /** Throws `not_found` if the user has no such session. */
  async endSession(user: User, sessionId: string): Promise<void> {
    const where = [ofUser(user), { field: 'id', value: sessionId }];
    const ended = await (await this.#authProvider.context()).adapter.deleteMany({ model: 'session', where });
    if (ended === 0)
      throw new CallerStatsError('not_found', 'There is no such session; it has ended already.');
  }

  /** Ends all sessions of the user except this one, and returns how many. */
  async endOtherSessions(user: User, session: Session): Promise<number> {
    const where = [ofUser(user), { field: 'id', operator: 'ne' as const, value: session.id }];
    return (await this.#authProvider.context()).adapter.deleteMany({ model: 'session', where });
  }

  /** Ends all sessions of the user, the trust in devices and what was begun. Returns the number of sessions; 0 for an unknown address. */
  async endAllSessions(email: string): Promise<number> {
    const { internalAdapter, adapter } = await this.#authProvider.context();
    const found = await internalAdapter.findUserByEmail(email);
    if (found === null) return 0;
    await forgetPending(adapter, found.user.id);
    return adapter.deleteMany({ model: 'session', where: [ofUser(found.user)] });
  }

  /**
   * Forgets which user of the provider the account belongs to, and that the provider proved its address, and removes all else that
   * opens it. The next user of the provider who has the address gets the account. Throws `not_found` for an account that is not linked.
   */
  async unlinkProvider(email: string): Promise<void> {
    const context = await this.#authProvider.context();
    const { internalAdapter, adapter } = context;
    const found = await internalAdapter.findUserByEmail(email);
    const accounts = found === null ? [] : await internalAdapter.findAccounts(found.user.id);
    if (found === null || !accounts.some(({ providerId }) => providerId === PROVIDER_ID))
      throw new CallerStatsError('not_found', `${email} has not used single sign-on.`);
    // The link is removed last: until then, an interrupted unlinking can be repeated.
    await removeCredentials(context, found.user.id);
    await internalAdapter.updateUserByEmail(email, { emailVerified: false });
    const linked = [ofUser(found.user), { field: 'providerId', value: PROVIDER_ID }];
    await adapter.deleteMany({ model: 'account', where: linked });
    // Sessions that began with the link meanwhile.
    await internalAdapter.deleteUserSessions(found.user.id);
  }

  /** The devices on which the user needs no second factor, latest first. */
  async listTrustedDevices(user: User, nowMs: number): Promise<TrustedDevice[]> {
    return listTrustedDevices((await this.#authProvider.context()).adapter, user.id, nowMs);
  }

  /** Ends the trust in a device. Throws `not_found` if the user does not trust it. */
  async forgetTrustedDevice(user: User, id: string): Promise<void> {
    if ((await forgetTrustedDevices((await this.#authProvider.context()).adapter, user.id, id)) === 0)
      throw new CallerStatsError('not_found', 'There is no such device; it is not trusted any more.');
  }

  /** Ends the session that a browser had before it signed in again. */
  async #endReplaced(before: { readonly session: Session } | undefined): Promise<void> {
    if (before === undefined) return;
    const where = [{ field: 'id', value: before.session.id }];
    await (await this.#authProvider.context()).adapter.deleteMany({ model: 'session', where });
  }

  /** Hashes a password anew, which was right, if an earlier version of this program hashed it. */
  async #renewHash(email: string, password: string): Promise<void> {
    const { internalAdapter, adapter } = await this.#authProvider.context();
    const found = await internalAdapter.findUserByEmail(email, { includeAccounts: true });
    const account = found?.accounts.find(({ providerId }) => providerId === 'credential');
    const { id, password: hash } = account ?? {};
    const form = hash ? findRenewedForm(hash, password) : undefined;
    if (!id || !hash || form === undefined) return;
    // Unless the password was changed meanwhile.
    const where = [
      { field: 'id', value: id },
      { field: 'password', value: hash },
    ];
    const update = { password: await this.#authProvider.passwords.hash(password, form) };
    await adapter.updateMany({ model: 'account', where, update });
  }

  /** The provider's URL, from which the browser returns signed in to `to`, a path below the base path. Undefined if the provider fails. */
  async startSingleSignOn(
    authRequest: AuthRequest,
    to: string,
  ): Promise<(AuthResponse & { readonly url: string }) | undefined> {
    const { basePath } = this.#authProvider;
    const body = {
      provider: PROVIDER_ID,
      callbackURL: `${basePath}${to}`,
      errorCallbackURL: `${basePath}/sign-in`,
      disableRedirect: true,
    };
    try {
      const { cookies, response } = await this.#authProvider.call(authRequest, (api, options) =>
        api.signInSocial({ body, ...options }),
      );
      if (response.url === undefined) throw new Error('the library returned no URL of the provider');
      return { url: response.url, cookies };
    } catch (error) {
      if (getErrorCode(error) === '') throw error;
      return undefined;
    }
  }

  /**
   * The redirect for a browser that returns from the provider with this query string, and the address of the user who is
   * signed in then. The path is fixed: the library has more endpoints, and reads backslashes and dots in a path differently
   * from the router.
   */
  async finishSingleSignOn(
    authRequest: AuthRequest,
    query: string,
  ): Promise<{ readonly headers: Headers; readonly email: string | undefined }> {
    const library = await this.#authProvider.for(authRequest);
    const { basePath, origin } = this.#authProvider;
    const url = new URL(`${basePath}${SINGLE_SIGN_ON_CALLBACK}?${query}`, origin);
    const before = await this.findSession(authRequest);
    const headers = await this.#authProvider.headersOf(authRequest);
    const { headers: answered } = await withStorages(() => library.handler(new Request(url, { headers })));
    const token = answered.getSetCookie().find((one) => /\.session_token=[^;]/.test(one));
    if (token === undefined) return { headers: answered, email: undefined };
    await this.#endReplaced(before);
    const cookie = token.split(';')[0] ?? '';
    const found = await this.findSession({ ...authRequest, headers: new Headers({ cookie }) });
    return { headers: answered, email: found?.user.email };
  }
}

function ofUser({ id }: Pick<User, 'id'>) {
  return { field: 'userId', value: id };
}

/** With the field of `FACTOR_SCHEMA`. */
type LibraryUser = Pick<User, 'id' | 'email' | 'name'> & {
  readonly emailVerified: boolean;
  readonly twoFactorEnabled?: boolean | null;
};

type LibrarySession = Awaited<ReturnType<Library['api']['listSessions']>>[number];

function toSession({
  id,
  ipAddress,
  userAgent,
  createdAt,
  expiresAt,
  providerFactor,
}: LibrarySession): Session {
  return {
    id,
    address: ipAddress || null,
    userAgent: userAgent || null,
    createdAt: createdAt.getTime(),
    expiresAt: expiresAt.getTime(),
    providerFactor: providerFactor === true,
  };
}
