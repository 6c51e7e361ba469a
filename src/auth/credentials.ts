/** Changes the credentials of users: passwords and second factors. */
import { createHash, randomBytes } from 'node:crypto';
import { CallerStatsError } from '../domain/errors.js';
import { resetLinkSeconds, resetMailAgainSeconds, resetMailsMax } from '../domain/limits.js';
import { secondMs } from '../domain/time/duration.js';
import type { AuthProvider, AuthRequest, AuthResponse } from './auth-provider.js';
import { checkPassword, translateErrors } from './errors.js';
import { MAILED_PREFIX } from './names.js';
import { forgetPending } from './second-factor/trusted-devices.js';
import { removeCredentials } from './single-sign-on.js';
import { withStorages } from './storages.js';

export class Credentials {
  readonly #authProvider: AuthProvider;

  constructor(authProvider: AuthProvider) {
    this.#authProvider = authProvider;
  }

  /**
   * Ends all other sessions, the trust in devices and open links, and gives this session a new token. The caller has checked that the new
   * password is hard to guess.
   */
  async changePassword(
    authRequest: AuthRequest,
    body: { readonly currentPassword: string; readonly newPassword: string },
  ): Promise<AuthResponse> {
    return this.#authProvider.call(authRequest, (api, options) => api.replacePassword({ body, ...options }));
  }

  /** Returns a token that sets a new password within `resetLinkSeconds`. Throws `not_found` for an unknown address. */
  async startPasswordReset(email: string): Promise<string> {
    const { internalAdapter } = await this.#authProvider.context();
    const { id, email: address } = await this.#requireUser(email);
    const token = randomBytes(32).toString('base64url') + markOf(address);
    const expiresAt = new Date(this.#authProvider.clock.now() + resetLinkSeconds * secondMs);
    await internalAdapter.createVerificationValue({ identifier: resetOf(token), value: id, expiresAt });
    return token;
  }

  /**
   * As `startPasswordReset`, for a link that a stranger may have asked for. Returns undefined if `resetMailsMax` links of the user still
   * work and one of them is younger than `resetMailAgainSeconds`. The second result forgets that the link was mailed.
   */
  async startMailedReset(
    email: string,
  ): Promise<{ readonly token: string; readonly forget: () => Promise<void> } | undefined> {
    const { internalAdapter, adapter } = await this.#authProvider.context();
    const { id } = await this.#requireUser(email);
    const nowMs = this.#authProvider.clock.now();
    // Ends with the links of the user: whatever ends them removes all that was begun (see `forgetPending`).
    const identifier = MAILED_PREFIX + randomBytes(24).toString('base64url');
    const expiresAt = new Date(nowMs + resetLinkSeconds * secondMs);
    await internalAdapter.createVerificationValue({ identifier, value: id, expiresAt });
    const forget = () => internalAdapter.deleteVerificationByIdentifier(identifier);
    // With its own, so that several servers never pass the limit together.
    const open = await adapter.findMany<Mailed>({
      model: 'verification',
      where: [
        { field: 'value', value: id },
        { field: 'identifier', operator: 'starts_with', value: MAILED_PREFIX },
        { field: 'expiresAt', operator: 'gt', value: new Date(nowMs) },
      ],
    });
    const isDue =
      open.length <= resetMailsMax ||
      !open.some((other) => isShortlyBefore(other, { identifier, expiresAt }));
    if (isDue) return { token: await this.startPasswordReset(email), forget };
    await forget();
    return undefined;
  }

  /** Whether the address has an account, and that has a password. */
  async hasPassword(email: string): Promise<boolean> {
    const { internalAdapter } = await this.#authProvider.context();
    const found = await internalAdapter.findUserByEmail(email, { includeAccounts: true });
    return found?.accounts.some(({ providerId }) => providerId === 'credential') === true;
  }

  /**
   * Sets a new password and ends all sessions, the trust in devices and other links. Returns the user's address. Throws `not_found` if the
   * token was used or has expired, or the account has another address now.
   */
  async resetPassword(body: { readonly token: string; readonly newPassword: string }): Promise<string> {
    const library = await this.#authProvider.for({ secure: false });
    const { internalAdapter, adapter } = await library.$context;
    const dead = new CallerStatsError('not_found', 'The link was used or has expired; ask for another.');
    const found = await internalAdapter.findVerificationValue(resetOf(body.token));
    const user = found === null ? null : await internalAdapter.findUserById(found.value);
    if (user === null || !body.token.endsWith(markOf(user.email))) throw dead;
    await this.#authProvider.requireGoodPassword(body.newPassword, { owner: user, field: 'password' });
    // Before the password: the token works once, so what fails after it could not be repeated.
    await forgetPending(adapter, user.id, found?.id);
    await translateErrors(() => withStorages(() => library.api.resetPassword({ body })), dead);
    await forgetPending(adapter, user.id);
    // Again, after the password was written: the library ends them before.
    await internalAdapter.deleteUserSessions(user.id);
    return user.email;
  }

  /** Removes everything that opens the account, except single sign-on, and ends all sessions. Throws `not_found` for an unknown address. */
  async removeAll(email: string): Promise<void> {
    await removeCredentials(await this.#authProvider.context(), (await this.#requireUser(email)).id);
  }

  async #requireUser(email: string): Promise<{ readonly id: string; readonly email: string }> {
    const { internalAdapter } = await this.#authProvider.context();
    const found = await internalAdapter.findUserByEmail(email);
    if (found === null)
      throw new CallerStatsError('not_found', `There is no user with the e-mail address ${email}.`);
    return found.user;
  }

  /** Throws `wrong_credentials` if this is not the password of the user who is signed in. */
  async checkPassword(authRequest: AuthRequest, password: string): Promise<void> {
    const body = { password };
    await checkPassword(() =>
      this.#authProvider.call(authRequest, (api, options) => api.verifyPassword({ body, ...options })),
    );
  }

  /** As `Users.verifySecondFactor`, for the user who is signed in. */
  async checkCode(authRequest: AuthRequest, code: string): Promise<void> {
    const body = { code };
    await this.#authProvider.call(authRequest, (api, options) => api.checkCode({ body, ...options }));
  }

  /** Creates a second factor, which `confirmSecondFactor` turns on. Throws `already_exists` if a factor is on. */
  async startSecondFactor(
    authRequest: AuthRequest,
  ): Promise<{ readonly uri: string; readonly backupCodes: readonly string[] }> {
    const { response } = await this.#authProvider.call(authRequest, (api, options) =>
      api.startCodes({ body: {}, ...options }),
    );
    return response;
  }

  /**
   * Also ends all other sessions, which began without the factor, and the trust in devices, which was in another one. Throws
   * `wrong_credentials` for a wrong code, and as `verifySecondFactor` after too many.
   */
  async confirmSecondFactor(authRequest: AuthRequest, code: string): Promise<AuthResponse> {
    const body = { code };
    return this.#authProvider.call(authRequest, (api, options) => api.confirmCodes({ body, ...options }));
  }

  async stopSecondFactor(authRequest: AuthRequest): Promise<AuthResponse> {
    return this.#authProvider.call(authRequest, (api, options) => api.stopCodes({ body: {}, ...options }));
  }
}

/** That somebody was mailed a link, or is about to be. */
interface Mailed {
  readonly identifier: string;
  readonly expiresAt: Date;
}

/** Of several at once, only the first has none before. */
function isShortlyBefore(other: Mailed, own: Mailed): boolean {
  const aheadMs = own.expiresAt.getTime() - other.expiresAt.getTime();
  if (aheadMs === 0) return other.identifier < own.identifier;
  return aheadMs > 0 && aheadMs < resetMailAgainSeconds * secondMs;
}

/** Ends the tokens for an address. Only whole tokens are found, so a token for another address never gets this end. */
function markOf(email: string): string {
  return createHash('sha256').update(email).digest('base64url').slice(0, 8);
}

/** The library looks for it when it sets the new password. */
function resetOf(token: string): string {
  return `reset-password:${token}`;
}
