/** Configures the sign-in library (better-auth.com). */
import { type BetterAuthOptions, betterAuth } from 'better-auth';
import { genericOAuth } from 'better-auth/plugins/generic-oauth';
import { twoFactor } from 'better-auth/plugins/two-factor';
import type { Logger } from 'pino';
import { passwordCharactersMax, passwordCharactersMin, sessionSecondsMax } from '../domain/limits.js';
import type { UserTables } from '../storage/ports/user-tables.js';
import {
  ADDRESS_HEADER,
  COOKIE_PREFIX,
  PROVIDER_ID,
  SINGLE_SIGN_ON_PATH,
  type SignInProblem,
  type SingleSignOn,
} from './names.js';
import type { PasswordHasher } from './passwords/password-hasher.js';
import { userDatabase } from './user-database.js';

export interface LibraryOptions {
  readonly tables: UserTables;
  readonly passwords: PasswordHasher;
  /** Signs cookies and encrypts second factors. */
  readonly secret: string;
  /** The server's URL for browsers, without a path. */
  readonly origin: string;
  /** The prefix of every path, without a slash at the end. It is the path of the cookies. */
  readonly basePath: string;
  /** Whether cookies are `Secure`. */
  readonly secure: boolean;
  readonly singleSignOn: SingleSignOn | undefined;
  /** Whether a user with this address may sign in by single sign-on. */
  readonly mayJoin: (email: string) => Promise<boolean>;
  /** Receives the token that sets a new password. */
  readonly onPasswordReset: (email: string, token: string) => void;
  readonly log: Logger;
}

export type Library = ReturnType<typeof buildLibrary>;

export function buildLibrary(options: LibraryOptions) {
  const { tables, secret, origin, basePath, secure, singleSignOn, mayJoin } = options;
  const log = options.log.child({ part: 'sign-in' });
  return betterAuth({
    appName: 'caller-stats',
    baseURL: origin,
    basePath: `${basePath}${SINGLE_SIGN_ON_PATH}`,
    secret,
    trustedOrigins: [origin],
    telemetry: { enabled: false },
    rateLimit: { enabled: false },
    logger: {
      level: 'error',
      disableColors: true,
      // Only the message, because the other arguments may contain rows of tables.
      log: (level, message) => log[level](message),
    },
    database: {
      db: userDatabase(tables),
      type: tables.dialect,
      // The store runs single statements. Repeating an interrupted operation repairs it.
      transaction: false,
    },
    user: {
      modelName: 'user_account',
      validateUserInfo: async ({ user, source }) => {
        if (source.method !== 'oauth') return undefined;
        if (user.emailVerified !== true) return { error: 'unverified_email' satisfies SignInProblem };
        const may = await mayJoin(String(user.email).toLowerCase());
        return may ? undefined : { error: 'not_a_member' satisfies SignInProblem };
      },
    },
    // No operation needs a fresh session: sensitive ones ask for the password.
    session: { modelName: 'user_session', expiresIn: sessionSecondsMax, updateAge: 86_400, freshAge: 0 },
    account: {
      modelName: 'user_credential',
      accountLinking: { enabled: true, trustedProviders: [] },
      // The provider's tokens are not stored.
      updateAccountOnSignIn: false,
    },
    verification: { modelName: 'user_verification' },
    emailAndPassword: signInWithPassword(options),
    databaseHooks: {
      // Only `Users` creates accounts, for addresses that an owner invited or a provider verified.
      user: { create: { before: async (user) => ({ data: { ...user, emailVerified: true } }) } },
      account: {
        create: {
          before: async (account) => ({
            data: { ...account, accessToken: null, refreshToken: null, idToken: null },
          }),
        },
      },
    },
    plugins: [
      twoFactor({ issuer: 'caller-stats', twoFactorTable: 'user_second_factor' }),
      ...(singleSignOn === undefined ? [] : [signInWithProvider(singleSignOn)]),
    ],
    onAPIError: { errorURL: `${basePath}/sign-in` },
    advanced: {
      // The store's migrations create the tables. Tests check that they fit.
      database: { validateSchema: false },
      cookiePrefix: COOKIE_PREFIX,
      useSecureCookies: secure,
      defaultCookieAttributes: { sameSite: 'lax', httpOnly: true, path: basePath || '/' },
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER] },
    },
  });
}

function signInWithPassword({ passwords, onPasswordReset }: LibraryOptions) {
  return {
    enabled: true,
    minPasswordLength: passwordCharactersMin,
    maxPasswordLength: passwordCharactersMax,
    password: {
      hash: (password) => passwords.hash(password),
      verify: (given) => passwords.verify(given),
    },
    revokeSessionsOnPasswordReset: true,
    resetPasswordTokenExpiresIn: 86_400,
    sendResetPassword: async ({ user, token }) => onPasswordReset(user.email, token),
  } satisfies BetterAuthOptions['emailAndPassword'];
}

function signInWithProvider({ name, clientId, clientSecret, issuer }: SingleSignOn) {
  return genericOAuth({
    config: [
      {
        providerId: PROVIDER_ID,
        name,
        clientId,
        clientSecret,
        discoveryUrl: `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`,
        requireIdTokenVerification: true,
        scopes: ['openid', 'email', 'profile'],
        disableProviderLogout: true,
      },
    ],
  });
}
