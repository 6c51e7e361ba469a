/** Changes the credentials of users: passwords and second factors. */
import { CallerStatsError } from '../domain/errors.js';
import type { AuthProvider, AuthRequest, AuthResponse } from './auth-provider.js';
import { checkCode, checkPassword, translateErrors } from './errors.js';

export class Credentials {
  readonly #authProvider: AuthProvider;

  constructor(authProvider: AuthProvider) {
    this.#authProvider = authProvider;
  }

  /** Ends all other sessions, and gives this one a new token. */
  async changePassword(
    authRequest: AuthRequest,
    passwords: { readonly currentPassword: string; readonly newPassword: string },
  ): Promise<AuthResponse> {
    const body = { ...passwords, revokeOtherSessions: true };
    return checkPassword(
      () => this.#authProvider.call(authRequest, (api, options) => api.changePassword({ body, ...options })),
      'The current password is wrong.',
    );
  }

  /** Returns a token that sets a new password within a day. Throws `not_found` for an unknown address. */
  async startPasswordReset(email: string): Promise<string> {
    const library = await this.#authProvider.for({ secure: false });
    await library.api.requestPasswordReset({ body: { email } });
    const token = this.#authProvider.takeResetToken(email);
    if (token === undefined)
      throw new CallerStatsError('not_found', `There is no user with the e-mail address ${email}.`);
    return token;
  }

  /** Sets a new password and ends all sessions. Throws `not_found` if the token was used or has expired. */
  async resetPassword(body: { readonly token: string; readonly newPassword: string }): Promise<void> {
    const library = await this.#authProvider.for({ secure: false });
    await translateErrors(
      () => library.api.resetPassword({ body }),
      new CallerStatsError('not_found', 'The link was used or has expired; ask for another.'),
    );
  }

  /** Turns the second factor off without a password or code, for the command line. */
  async dropSecondFactor(email: string): Promise<void> {
    const { internalAdapter, adapter } = await (await this.#authProvider.for({ secure: false })).$context;
    const found = await internalAdapter.findUserByEmail(email);
    if (found === null)
      throw new CallerStatsError('not_found', `There is no user with the e-mail address ${email}.`);
    await adapter.deleteMany({ model: 'twoFactor', where: [{ field: 'userId', value: found.user.id }] });
    await internalAdapter.updateUser(found.user.id, { twoFactorEnabled: false });
  }

  /** Creates a second factor, which `confirmSecondFactor` turns on. Throws `already_exists` if one is on. */
  async startSecondFactor(
    authRequest: AuthRequest,
    password: string,
  ): Promise<{ readonly uri: string; readonly backupCodes: readonly string[] }> {
    const { api } = await this.#authProvider.for(authRequest);
    return checkPassword(async () => {
      const { headers } = authRequest;
      const started = await api.enableTwoFactor({ body: { password, method: 'totp' }, headers });
      if (started.method !== 'totp') throw new Error('the library created another kind of second factor');
      return { uri: started.totpURI, backupCodes: started.backupCodes };
    });
  }

  async confirmSecondFactor(authRequest: AuthRequest, code: string): Promise<AuthResponse> {
    return checkCode(() =>
      this.#authProvider.call(authRequest, (api, options) => api.verifyTOTP({ body: { code }, ...options })),
    );
  }

  async stopSecondFactor(authRequest: AuthRequest, password: string): Promise<AuthResponse> {
    return checkPassword(() =>
      this.#authProvider.call(authRequest, (api, options) =>
        api.disableTwoFactor({ body: { password }, ...options }),
      ),
    );
  }
}
