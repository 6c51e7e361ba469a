/** What users sign in with: passwords and second factors. */
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
    { currentPassword, newPassword }: { readonly currentPassword: string; readonly newPassword: string },
  ): Promise<AuthResponse> {
    const library = await this.#authProvider.for(authRequest);
    return checkPassword(async () => {
      const { headers } = await library.api.changePassword({
        body: { currentPassword, newPassword, revokeOtherSessions: true },
        headers: authRequest.headers,
        returnHeaders: true,
      });
      return { cookies: headers.getSetCookie() };
    }, 'The current password is wrong.');
  }

  /** A token that sets a new password, within a day. `not_found` where nobody has the address. */
  async startPasswordReset(email: string): Promise<string> {
    const library = await this.#authProvider.for({ secure: false });
    await library.api.requestPasswordReset({ body: { email } });
    const token = this.#authProvider.takeReset(email);
    if (token === undefined)
      throw new CallerStatsError('not_found', `There is no user with the e-mail address ${email}.`);
    return token;
  }

  /** Sets a new password and ends all sessions. `not_found` where the token was used or has expired. */
  async resetPassword({
    token,
    newPassword,
  }: {
    readonly token: string;
    readonly newPassword: string;
  }): Promise<void> {
    const library = await this.#authProvider.for({ secure: false });
    await translateErrors(
      () => library.api.resetPassword({ body: { token, newPassword } }),
      new CallerStatsError('not_found', 'The link was used or has expired; ask for another.'),
    );
  }

  /** Turns the second factor off without its password or code: for the command line. */
  async dropSecondFactor(email: string): Promise<void> {
    const { internalAdapter, adapter } = await (await this.#authProvider.for({ secure: false })).$context;
    const found = await internalAdapter.findUserByEmail(email);
    if (found === null)
      throw new CallerStatsError('not_found', `There is no user with the e-mail address ${email}.`);
    await adapter.deleteMany({ model: 'twoFactor', where: [{ field: 'userId', value: found.user.id }] });
    await internalAdapter.updateUser(found.user.id, { twoFactorEnabled: false });
  }

  /**
   * Proposes a second factor, which is asked for once `confirmSecondFactor` had a code of it. `already_exists` where one
   * is on.
   */
  async startSecondFactor(
    authRequest: AuthRequest,
    password: string,
  ): Promise<{ readonly uri: string; readonly backupCodes: readonly string[] }> {
    const library = await this.#authProvider.for(authRequest);
    return checkPassword(async () => {
      const started = await library.api.enableTwoFactor({
        body: { password, method: 'totp' },
        headers: authRequest.headers,
      });
      if (started.method !== 'totp') throw new Error('the library made another second factor than asked for');
      return { uri: started.totpURI, backupCodes: started.backupCodes };
    });
  }

  async confirmSecondFactor(authRequest: AuthRequest, code: string): Promise<AuthResponse> {
    const library = await this.#authProvider.for(authRequest);
    return checkCode(async () => {
      const { headers } = await library.api.verifyTOTP({
        body: { code },
        headers: authRequest.headers,
        returnHeaders: true,
      });
      return { cookies: headers.getSetCookie() };
    });
  }

  async stopSecondFactor(authRequest: AuthRequest, password: string): Promise<AuthResponse> {
    const library = await this.#authProvider.for(authRequest);
    return checkPassword(async () => {
      const { headers } = await library.api.disableTwoFactor({
        body: { password },
        headers: authRequest.headers,
        returnHeaders: true,
      });
      return { cookies: headers.getSetCookie() };
    });
  }
}
