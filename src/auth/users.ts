/** Users: who signs in, and which sessions they have. What the rest of the program knows of them. */
import { CallerStatsError } from '../domain/errors.js';
import type { Directory } from '../storage/ports/directory.js';
import type { AuthProvider, AuthRequest, AuthResponse } from './auth-provider.js';
import { checkCode, checkPassword, getErrorCode, translateErrors } from './errors.js';
import { COOKIE_PREFIX, PROVIDER_ID } from './names.js';

export interface User {
  readonly id: string;
  /** In lower case. */
  readonly email: string;
  readonly name: string;
  /** Whether a second factor is asked for at sign-in. */
  readonly secondFactor: boolean;
}

export interface Session {
  readonly id: string;
  readonly address: string | null;
  readonly userAgent: string | null;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

export class Users {
  readonly #authProvider: AuthProvider;
  readonly #directory: Pick<Directory, 'findUserNames'>;

  constructor(authProvider: AuthProvider, directory: Pick<Directory, 'findUserNames'>) {
    this.#authProvider = authProvider;
    this.#directory = directory;
  }

  /** Who is signed in, in which session; undefined for nobody. */
  async findSession(
    authRequest: AuthRequest,
  ): Promise<(AuthResponse & { readonly user: User; readonly session: Session }) | undefined> {
    if (!authRequest.headers.get('cookie')?.includes(`${COOKIE_PREFIX}.session_token`)) return undefined;
    const library = await this.#authProvider.for(authRequest);
    const { headers, response } = await library.api.getSession({
      headers: authRequest.headers,
      returnHeaders: true,
    });
    if (response === null) return undefined;
    const { user, session } = response;
    return {
      user: {
        id: user.id,
        email: user.email,
        name: user.name,
        secondFactor: user.twoFactorEnabled === true,
      },
      session: toSession(session),
      cookies: headers.getSetCookie(),
    };
  }

  /** Throws the same error, with the message `wrong`, for an unknown address and for a wrong password. */
  async signIn(
    authRequest: AuthRequest,
    { email, password }: { readonly email: string; readonly password: string },
    wrong = 'The e-mail address or the password is wrong.',
  ): Promise<AuthResponse & { readonly secondFactor: boolean }> {
    const library = await this.#authProvider.for(authRequest);
    return checkPassword(async () => {
      const { headers, response } = await library.api.signInEmail({
        body: { email, password, rememberMe: true },
        headers: authRequest.headers,
        returnHeaders: true,
      });
      return { secondFactor: 'twoFactorRedirect' in response, cookies: headers.getSetCookie() };
    }, wrong);
  }

  /**
   * The second step of signing in: a code of the authenticator, or one of the backup codes. `too_many_attempts` after ten
   * wrong ones in a row, for 15 minutes.
   */
  async verifySecondFactor(
    authRequest: AuthRequest,
    { code, trustDevice }: { readonly code: string; readonly trustDevice: boolean },
  ): Promise<AuthResponse & { readonly email: string }> {
    const library = await this.#authProvider.for(authRequest);
    return checkCode(async () => {
      const request = {
        body: { code, trustDevice },
        headers: authRequest.headers,
        returnHeaders: true,
      } as const;
      const { headers, response } = /^\d{6}$/.test(code)
        ? await library.api.verifyTOTP(request)
        : await library.api.verifyBackupCode(request);
      return { email: String(response.user.email), cookies: headers.getSetCookie() };
    });
  }

  async signOut(authRequest: AuthRequest): Promise<AuthResponse> {
    const library = await this.#authProvider.for(authRequest);
    const { headers } = await library.api.signOut({ headers: authRequest.headers, returnHeaders: true });
    return { cookies: headers.getSetCookie() };
  }

  /** Whether somebody has an account with this address. */
  async exists(email: string): Promise<boolean> {
    return (await this.#directory.findUserNames([email])).has(email);
  }

  /** Makes an account and signs in. `already_exists` where there is one with the address; `invalid` for an unfit password. */
  async create(
    authRequest: AuthRequest,
    { email, name, password }: { readonly email: string; readonly name: string; readonly password: string },
  ): Promise<AuthResponse> {
    const library = await this.#authProvider.for(authRequest);
    const created = await translateErrors(() =>
      library.api
        .signUpEmail({ body: { email, name, password }, headers: authRequest.headers, returnHeaders: true })
        .catch(async (error: unknown) => {
          // The library does not say why the row could not be written: most likely somebody was first a moment ago.
          if (getErrorCode(error) !== 'FAILED_TO_CREATE_USER') throw error;
          throw (await this.exists(email))
            ? new CallerStatsError('already_exists', 'There is an account with this e-mail address already.')
            : new CallerStatsError('unavailable', 'The account could not be written.', { cause: error });
        }),
    );
    return { cookies: created.headers.getSetCookie() };
  }

  /** Takes an account away, with all that belongs to it; where there is none, nothing happens. */
  async remove(email: string): Promise<void> {
    const { internalAdapter } = await (await this.#authProvider.for({ secure: false })).$context;
    const found = await internalAdapter.findUserByEmail(email);
    if (found !== null) await internalAdapter.deleteUser(found.user.id);
  }

  async hasPassword(user: User): Promise<boolean> {
    const { internalAdapter } = await (await this.#authProvider.for({ secure: false })).$context;
    const accounts = await internalAdapter.findAccounts(user.id);
    return accounts.some(({ providerId }) => providerId === 'credential');
  }

  async rename(authRequest: AuthRequest, name: string): Promise<void> {
    const library = await this.#authProvider.for(authRequest);
    await library.api.updateUser({ body: { name }, headers: authRequest.headers });
  }

  /** The user's sessions, newest first. */
  async listSessions(authRequest: AuthRequest): Promise<Session[]> {
    const library = await this.#authProvider.for(authRequest);
    const sessions = await library.api.listSessions({ headers: authRequest.headers });
    return sessions.map(toSession).sort((a, b) => b.createdAt - a.createdAt);
  }

  /** `not_found` where the user has no such session. */
  async endSession(authRequest: AuthRequest, sessionId: string): Promise<void> {
    const library = await this.#authProvider.for(authRequest);
    const sessions = await library.api.listSessions({ headers: authRequest.headers });
    const session = sessions.find(({ id }) => id === sessionId);
    if (session === undefined)
      throw new CallerStatsError('not_found', 'There is no such session; it has ended already.');
    await library.api.revokeSession({ body: { token: session.token }, headers: authRequest.headers });
  }

  async endOtherSessions(authRequest: AuthRequest): Promise<void> {
    const library = await this.#authProvider.for(authRequest);
    await library.api.revokeOtherSessions({ headers: authRequest.headers });
  }

  /** Where to send the browser, so that it returns signed in to `to`, a path below the base path. Undefined if the provider fails. */
  async startSingleSignOn(
    authRequest: AuthRequest,
    to: string,
  ): Promise<(AuthResponse & { readonly url: string }) | undefined> {
    const library = await this.#authProvider.for(authRequest);
    const { basePath } = this.#authProvider;
    try {
      const { headers, response } = await library.api.signInSocial({
        body: {
          provider: PROVIDER_ID,
          callbackURL: `${basePath}${to}`,
          errorCallbackURL: `${basePath}/sign-in`,
          disableRedirect: true,
        },
        headers: authRequest.headers,
        returnHeaders: true,
      });
      if (response.url === undefined) throw new Error('the library names no address of the provider');
      return { url: response.url, cookies: headers.getSetCookie() };
    } catch (error) {
      if (getErrorCode(error) === '') throw error;
      return undefined;
    }
  }

  /** Answers the browser that comes back from the provider to a path, base path included: a redirect with cookies. */
  async finishSingleSignOn(authRequest: AuthRequest, path: string): Promise<Response> {
    const library = await this.#authProvider.for(authRequest);
    const url = new URL(path, this.#authProvider.origin);
    return library.handler(new Request(url, { headers: authRequest.headers }));
  }
}

function toSession(session: {
  readonly id: string;
  readonly ipAddress?: string | null | undefined;
  readonly userAgent?: string | null | undefined;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}): Session {
  return {
    id: session.id,
    address: session.ipAddress || null,
    userAgent: session.userAgent || null,
    createdAt: session.createdAt.getTime(),
    expiresAt: session.expiresAt.getTime(),
  };
}
