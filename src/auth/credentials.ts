/** Changes the credentials of users: passwords and second factors. */
import { CallerStatsError } from '../domain/errors.js';
import type { AuthProvider, AuthRequest, AuthResponse } from './auth-provider.js';
import { checkCode, checkPassword, translateErrors } from './errors.js';
import { removePasskeys } from './passkeys/passkey-rows.js';
import type { CodeAlgorithm } from './second-factor/stored-factor.js';
import { forgetPending, forgetTrustedDevices } from './second-factor/trusted-devices.js';

/** Of the codes of authenticator apps. The app decides: see `redeemCode`. */
const NEW_ALGORITHM: CodeAlgorithm = 'SHA256';

export class Credentials {
  readonly #authProvider: AuthProvider;

  constructor(authProvider: AuthProvider) {
    this.#authProvider = authProvider;
  }

  /** Ends all other sessions, the trust in devices and open links, and gives this session a new token. */
  async changePassword(
    authRequest: AuthRequest,
    passwords: { readonly currentPassword: string; readonly newPassword: string },
  ): Promise<AuthResponse> {
    const session = await this.#authProvider.call(authRequest, (api, options) => api.getSession(options));
    if (session.response !== null) {
      const use = { owner: session.response.user, field: 'newPassword' } as const;
      await this.#authProvider.requireGoodPassword(passwords.newPassword, use);
    }
    const body = { ...passwords, revokeOtherSessions: true };
    const { cookies, response } = await checkPassword(
      () => this.#authProvider.call(authRequest, (api, options) => api.changePassword({ body, ...options })),
      'The current password is wrong.',
    );
    await forgetPending(await this.#authProvider.adapter(), response.user.id);
    return { cookies };
  }

  /** Returns a token that sets a new password within an hour. Throws `not_found` for an unknown address. */
  async startPasswordReset(email: string): Promise<string> {
    const library = await this.#authProvider.for({ secure: false });
    await library.api.requestPasswordReset({ body: { email } });
    const token = this.#authProvider.takeResetToken(email);
    if (token === undefined)
      throw new CallerStatsError('not_found', `There is no user with the e-mail address ${email}.`);
    return token;
  }

  /**
   * Sets a new password and ends all sessions, the trust in devices and other links. Returns the user's address. Throws `not_found` if the
   * token was used or has expired.
   */
  async resetPassword(body: { readonly token: string; readonly newPassword: string }): Promise<string> {
    const library = await this.#authProvider.for({ secure: false });
    const { internalAdapter, adapter } = await library.$context;
    const dead = new CallerStatsError('not_found', 'The link was used or has expired; ask for another.');
    const found = await internalAdapter.findVerificationValue(`reset-password:${body.token}`);
    const user = found === null ? null : await internalAdapter.findUserById(found.value);
    if (user === null) throw dead;
    await this.#authProvider.requireGoodPassword(body.newPassword, { owner: user, field: 'password' });
    // Before the password: the token works once, so what fails after it could not be repeated.
    await forgetTrustedDevices(adapter, user.id);
    await translateErrors(() => library.api.resetPassword({ body }), dead);
    await forgetPending(adapter, user.id);
    return user.email;
  }

  /** Turns codes off and removes all passkeys, without a password or code, for the command line. */
  async dropSecondFactor(email: string): Promise<void> {
    const { internalAdapter, adapter } = await (await this.#authProvider.for({ secure: false })).$context;
    const found = await internalAdapter.findUserByEmail(email);
    if (found === null)
      throw new CallerStatsError('not_found', `There is no user with the e-mail address ${email}.`);
    await adapter.deleteMany({ model: 'twoFactor', where: [{ field: 'userId', value: found.user.id }] });
    await removePasskeys(adapter, found.user.id);
    await internalAdapter.updateUser(found.user.id, { twoFactorEnabled: false });
  }

  /** Throws `wrong_credentials` if this is not the password of the user who is signed in. */
  async checkPassword(authRequest: AuthRequest, password: string): Promise<void> {
    const body = { password };
    await checkPassword(() =>
      this.#authProvider.call(authRequest, (api, options) => api.verifyPassword({ body, ...options })),
    );
  }

  /**
   * Creates a second factor, which `confirmSecondFactor` turns on. Only users who have a password need it. Throws
   * `already_exists` if a factor is on.
   */
  async startSecondFactor(
    authRequest: AuthRequest,
    password: string | undefined,
  ): Promise<{ readonly uri: string; readonly backupCodes: readonly string[] }> {
    return checkPassword(async () => {
      const { response: started } = await this.#authProvider.call(authRequest, (api, options) =>
        api.enableTwoFactor({ body: { ...(password && { password }), method: 'totp' }, ...options }),
      );
      if (started.method !== 'totp') throw new Error('the library created another kind of second factor');
      const uri = new URL(started.totpURI);
      uri.searchParams.set('algorithm', NEW_ALGORITHM);
      return { uri: uri.href, backupCodes: started.backupCodes };
    });
  }

  /** Also ends all other sessions, which began without the factor, and the trust in devices, which was in another one. */
  async confirmSecondFactor(authRequest: AuthRequest, code: string): Promise<AuthResponse> {
    return checkCode(() =>
      this.#authProvider.call(authRequest, (api, options) =>
        api.confirmCodes({ body: { code }, ...options }),
      ),
    );
  }

  async stopSecondFactor(authRequest: AuthRequest, password: string | undefined): Promise<AuthResponse> {
    return checkPassword(() =>
      this.#authProvider.call(authRequest, (api, options) =>
        api.disableTwoFactor({ body: { ...(password && { password }) }, ...options }),
      ),
    );
  }
}
