/** Configures the sign-in library (better-auth.com). */
import { kyselyAdapter } from '@better-auth/kysely-adapter';
import { type BetterAuthOptions, betterAuth } from 'better-auth';
import type { Logger } from 'pino';
import {
  openingsMax,
  passwordCharactersMax,
  passwordCharactersMin,
  sessionLifeSecondsMax,
  sessionSecondsMax,
  sessionUpdateSeconds,
} from '../domain/limits.js';
import { isName } from '../domain/names.js';
import type { Clock } from '../domain/time/clock.js';
import { secondMs } from '../domain/time/duration.js';
import type { Throttles } from '../storage/ports/throttles.js';
import type { UserTables } from '../storage/ports/user-tables.js';
import { hashTokens } from './hashed-tokens.js';
import { createLibraryLog } from './library-log.js';
import {
  ADDRESS_HEADER,
  APPLICATION_PREFIX,
  cookiePrefix,
  type LegacyAlgorithms,
  MAILED_PREFIX,
  PROVIDER_ID,
  SINGLE_SIGN_ON_PATH,
  type SingleSignOn,
} from './names.js';
import { keepNewest } from './newest.js';
import { passkeyCeremonies } from './passkeys/ceremonies.js';
import type { PasswordHasher } from './passwords/password-hasher.js';
import { checkProvider, signInWithProvider } from './provider.js';
import { challengeSecondFactor } from './second-factor/challenge.js';
import { secondFactorCodes } from './second-factor/codes.js';
import { sessionRenewal } from './second-factor/other-sessions.js';
import { findClaims, provesSecondFactor } from './second-factor/provider-claims.js';
import { TRUST_PREFIX } from './second-factor/trusted-devices.js';
import type { Secrets } from './secrets.js';
import type { SignInLog } from './sign-in-log.js';
import { admit, takeOver } from './single-sign-on.js';
import { userDatabase } from './user-database.js';

export interface LibraryOptions {
  readonly tables: UserTables;
  readonly passwords: PasswordHasher;
  readonly secrets: Secrets;
  readonly throttles: Pick<Throttles, 'take' | 'reset'>;
  readonly clock: Clock;
  readonly signInLog: SignInLog;
  /** The server's URL for browsers, without a path. */
  readonly origin: string;
  /** The prefix of every path, without a slash at the end. It is the path of the cookies. */
  readonly basePath: string;
  /** Whether cookies are `Secure`. */
  readonly secure: boolean;
  readonly singleSignOn: SingleSignOn | undefined;
  readonly legacyAlgorithms: LegacyAlgorithms;
  /** Whether a user with this address may sign in by single sign-on. */
  readonly mayJoin: (email: string) => Promise<boolean>;
  /** Called when single sign-on is the first proof of an account's address, and what it had was removed. */
  readonly onAccountProved: (email: string, address: string | null) => Promise<void>;
  readonly log: Logger;
}

export type Library = ReturnType<typeof buildLibrary>;

export function buildLibrary(options: LibraryOptions) {
  const { tables, secrets, origin, basePath, secure } = options;
  const log = createLibraryLog(options.log.child({ part: 'sign-in' }));
  return betterAuth({
    appName: 'caller-stats',
    baseURL: origin,
    basePath: `${basePath}${SINGLE_SIGN_ON_PATH}`,
    // The library would take one from the environment.
    secret: secrets.newest,
    secrets: secrets.versions,
    trustedOrigins: [origin],
    telemetry: { enabled: false },
    rateLimit: { enabled: false },
    logger: { level: 'error', disableColors: true, log },
    // The store runs single statements. Repeating an interrupted operation repairs it.
    database: (library: BetterAuthOptions) =>
      hashTokens(kyselyAdapter(userDatabase(tables), { type: tables.dialect, transaction: false })(library)),
    user: { modelName: 'user_account', validateUserInfo: admit(options) },
    // No operation needs a fresh session: sensitive ones ask for the password.
    session: {
      modelName: 'user_session',
      expiresIn: sessionSecondsMax,
      updateAge: sessionUpdateSeconds,
      freshAge: 0,
      additionalFields: { providerFactor: { type: 'boolean', required: false, input: false } },
    },
    account: {
      modelName: 'user_credential',
      // An account whose address nobody verified is linked, but loses what it had: see `takeOver`.
      accountLinking: { enabled: true, trustedProviders: [], requireLocalEmailVerified: false },
      // In an encrypted cookie: strangers start single sign-on as often as they like.
      storeStateStrategy: 'cookie',
      // The provider's tokens are not stored.
      updateAccountOnSignIn: false,
    },
    verification: {
      modelName: 'user_verification',
      storeIdentifier: {
        default: 'hashed',
        overrides: { [TRUST_PREFIX]: 'plain', [APPLICATION_PREFIX]: 'plain', [MAILED_PREFIX]: 'plain' },
      },
      additionalFields: {
        ipAddress: { type: 'string', required: false },
        userAgent: { type: 'string', required: false },
      },
    },
    emailAndPassword: signInWithPassword(options),
    databaseHooks: databaseHooks(options),
    plugins: plugins(options, (problem) => log('error', problem)),
    onAPIError: { errorURL: `${basePath}/sign-in` },
    advanced: {
      // The store's migrations create the tables. Tests check that they fit.
      // The library's own limit would cut lists short. There is a bound for each.
      database: { validateSchema: false, defaultFindManyLimit: 10 * openingsMax },
      // With the prefixes that browsers know; the library has only one of them.
      cookiePrefix: cookiePrefix(options),
      useSecureCookies: false,
      defaultCookieAttributes: { secure, sameSite: 'lax', httpOnly: true, path: basePath || '/' },
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER] },
    },
  });
}

function signInWithPassword({ passwords }: LibraryOptions) {
  return {
    enabled: true,
    minPasswordLength: passwordCharactersMin,
    maxPasswordLength: passwordCharactersMax,
    password: {
      hash: (password) => passwords.hash(password),
      verify: (given) => passwords.verify(given),
    },
    revokeSessionsOnPasswordReset: true,
  } satisfies BetterAuthOptions['emailAndPassword'];
}

function databaseHooks({ onAccountProved, singleSignOn }: LibraryOptions) {
  return {
    user: {
      create: {
        // A provider may have any name for its user.
        before: async (user) => ({ data: { ...user, name: isName(user.name) ? user.name : user.email } }),
      },
    },
    session: {
      create: {
        before: async (session, context) => {
          // A session in place of another began when that did, with the same factor: only signing in begins anew.
          const replaced = context?.context.session?.session;
          if (replaced?.userId === session.userId) {
            const { createdAt, providerFactor } = replaced;
            return { data: { ...session, ...limitLife(session, createdAt), providerFactor } };
          }
          if (singleSignOn?.secondFactor !== 'trust' || context?.path?.startsWith('/callback/') !== true)
            return undefined;
          return { data: { ...session, providerFactor: provesSecondFactor(findClaims(context.context)) } };
        },
        // The library forgets verifications that have ended, but only those sessions whose browsers come back.
        after: async ({ id, createdAt, userId }, context) => {
          if (context === null) return;
          const { adapter } = context.context;
          const ended = { field: 'expiresAt', operator: 'lt', value: createdAt } as const;
          await adapter.deleteMany({ model: 'session', where: [ended] });
          await keepNewest(adapter, 'session', [{ field: 'userId', value: userId }], { id });
        },
      },
      update: {
        // Each day of use moves the end of a session, but not beyond its longest life. Near it, every use writes it again.
        before: async (changed, context) => {
          const { createdAt } = context?.context.session?.session ?? {};
          if (createdAt === undefined || changed.expiresAt === undefined) return undefined;
          return {
            data: { ...changed, expiresAt: limitLife({ expiresAt: changed.expiresAt }, createdAt).expiresAt },
          };
        },
      },
    },
    account: {
      create: {
        before: async (account, context) => {
          if (account.providerId === PROVIDER_ID && context !== null) {
            const email = await takeOver(context.context, account.userId);
            const address = context.headers?.get(ADDRESS_HEADER) ?? null;
            if (email !== undefined) await onAccountProved(email, address);
          }
          return { data: { ...account, accessToken: null, refreshToken: null, idToken: null } };
        },
      },
    },
    verification: {
      create: {
        before: async (verification, context) => {
          if (!verification.identifier.startsWith(TRUST_PREFIX)) return undefined;
          const ipAddress = context?.headers?.get(ADDRESS_HEADER) ?? null;
          const userAgent = context?.headers?.get('user-agent') ?? null;
          return { data: { ...verification, ipAddress, userAgent } };
        },
      },
    },
  } satisfies BetterAuthOptions['databaseHooks'];
}

/** The times of a session that began at `createdAt`. */
function limitLife({ expiresAt }: { readonly expiresAt: Date }, createdAt: Date) {
  const end = createdAt.getTime() + sessionLifeSecondsMax * secondMs;
  return { createdAt, expiresAt: new Date(Math.min(expiresAt.getTime(), end)) };
}

function plugins(options: LibraryOptions, report: (problem: string) => void) {
  const { singleSignOn, basePath, legacyAlgorithms } = options;
  const challenge = challengeSecondFactor({
    trustsProvider: singleSignOn?.secondFactor === 'trust',
    signInPath: `${basePath}/sign-in`,
  });
  const provider =
    singleSignOn === undefined
      ? []
      : [
          signInWithProvider(singleSignOn, { legacyAlgorithms, report }),
          checkProvider(singleSignOn, { report }),
        ];
  return [secondFactorCodes(options), challenge, passkeyCeremonies(options), sessionRenewal(), ...provider];
}
