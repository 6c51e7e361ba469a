/**
 * Codes as a second factor: those of an authenticator app, and backup codes. Each code of an app works once, on any number of
 * nodes, and only in its half minute (OWASP ASVS 5.0, 6.5.5). Wrong codes are limited for each user. The library's own plugin
 * knows only SHA-1, accepts codes again and those of other half minutes, and asks only after a password.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { BetterAuthPlugin, DBAdapter } from 'better-auth';
import { createAuthEndpoint } from 'better-auth/api';
import { generateRandomString, parseEnvelope, symmetricDecrypt, symmetricEncrypt } from 'better-auth/crypto';
import { HOTP, Secret, TOTP } from 'otpauth';
import { CallerStatsError, isUnavailable } from '../../domain/errors.js';
import { codeLockSeconds, guessesMax } from '../../domain/limits.js';
import type { Clock } from '../../domain/time/clock.js';
import { minuteMs, secondMs } from '../../domain/time/duration.js';
import type { Throttles } from '../../storage/ports/throttles.js';
import { ADDRESS_HEADER, type LegacyAlgorithms } from '../names.js';
import type { SignInLog } from '../sign-in-log.js';
import { type CodeHasher, createBackupCodes, hashBackupCodes, redeemBackupCode } from './backup-codes.js';
import { findSecondStep, finishSecondStep } from './challenge.js';
import { bodyOf, type LibraryContext, requireSession, signInAgain } from './library-context.js';
import { endOtherSessions, replaceSessions } from './other-sessions.js';
import {
  type CodeAlgorithm,
  FACTOR_SCHEMA,
  findFactor,
  removeCodes,
  type StoredFactor,
} from './stored-factor.js';
import { forgetThisDevice } from './trusted-devices.js';

interface CodeOptions {
  readonly throttles: Pick<Throttles, 'take' | 'reset'>;
  readonly clock: Clock;
  readonly signInLog: SignInLog;
  readonly passwords: CodeHasher;
  readonly legacyAlgorithms: LegacyAlgorithms;
}

/** The keys that encrypt second factors. */
type FactorKey = LibraryContext['context']['secretConfig'];

/** Of new apps. The app decides: see `redeemAppCode`. */
const NEW_ALGORITHM: CodeAlgorithm = 'SHA256';

export function secondFactorCodes(options: CodeOptions) {
  const { passwords: hasher } = options;
  return {
    id: 'second-factor-codes',
    schema: FACTOR_SCHEMA,
    endpoints: {
      /** Creates a second factor, which `confirmCodes` turns on. */
      startCodes: createAuthEndpoint.serverOnly(bodyOf<object>(), async (context) => {
        const { user } = await requireSession(context);
        return startCodes(context, user, hasher);
      }),
      /** Turns the factor of the signed-in user on. */
      confirmCodes: createAuthEndpoint.serverOnly(bodyOf<{ readonly code: string }>(), async (context) => {
        const found = await requireSession(context);
        const { id } = found.user;
        await requireCode(context, id, { ...options, ...context.body, isSetUp: true });
        await endOtherSessions(context, found);
        const user = await context.context.internalAdapter.updateUser(id, { twoFactorEnabled: true });
        if (!(await replaceSessions(context, { ...found, user }))) {
          await removeCodes(context.context, id);
          throw signInAgain();
        }
        return { ok: true };
      }),
      stopCodes: createAuthEndpoint.serverOnly(bodyOf<object>(), async (context) => {
        const { user } = await requireSession(context);
        await removeCodes(context.context, user.id);
        await forgetThisDevice(context, user.id);
        return { ok: true };
      }),
      /** Proves again who the signed-in user is. */
      checkCode: createAuthEndpoint.serverOnly(bodyOf<{ readonly code: string }>(), async (context) => {
        const { user } = await requireSession(context);
        await requireCode(context, user.id, { ...options, ...context.body, isSetUp: false });
        return { ok: true };
      }),
      /** The second step of signing in. */
      verifyCode: createAuthEndpoint.serverOnly(
        bodyOf<{ readonly code: string; readonly trustDevice: boolean }>(),
        async (context) => {
          const { code, trustDevice } = context.body;
          const step = await findSecondStep(context);
          if (step === undefined) throw wrongCode();
          const kind = await requireCode(context, step.userId, { ...options, code, isSetUp: false });
          const user = await finishSecondStep(context, step, { trustDevice });
          if (user === undefined) throw wrongCode();
          return { email: user.email, kind };
        },
      ),
    },
  } satisfies BetterAuthPlugin;
}

async function startCodes(
  { context }: LibraryContext,
  user: { readonly id: string; readonly email: string },
  hasher: CodeHasher,
): Promise<{ readonly uri: string; readonly backupCodes: readonly string[] }> {
  const { adapter, secretConfig: key } = context;
  const present = await findFactor(adapter, user.id);
  if (present !== null && present.verified !== false)
    throw new CallerStatsError('already_exists', 'The second factor is on already; turn it off first.');
  const secret = generateRandomString(32);
  const backupCodes = createBackupCodes();
  const codes = {
    secret: await symmetricEncrypt({ key, data: secret }),
    backupCodes: await hashBackupCodes(backupCodes, hasher),
    verified: false,
  };
  const model = 'twoFactor';
  if (present === null) {
    const data = { ...codes, userId: user.id, lastStep: 0, algorithm: NEW_ALGORITHM };
    await adapter.create({ model, data });
  } else {
    await adapter.updateMany({ model, where: [{ field: 'id', value: present.id }], update: codes });
  }
  const app = new TOTP({
    issuer: 'caller-stats',
    label: user.email,
    secret: Secret.fromUTF8(secret),
    algorithm: NEW_ALGORITHM,
  });
  return { uri: app.toString(), backupCodes };
}

interface GivenCode extends CodeOptions {
  readonly code: string;
  /** Whether the code shows that the app was set up. */
  readonly isSetUp: boolean;
}

/** Throws unless the code is right and was not used before. */
async function requireCode(
  context: LibraryContext,
  userId: string,
  given: GivenCode,
): Promise<'a code' | 'a backup code'> {
  const { code, isSetUp, legacyAlgorithms, throttles, passwords: hasher } = given;
  await takeAttempt(context, userId, given);
  const { adapter } = context.context;
  const factor = await findFactor(adapter, userId);
  const isOfApp = isSetUp || /^\d{6}$/.test(code);
  const isOn = factor?.verified !== false;
  const refusesLegacy = isOfApp && legacyAlgorithms === 'refuse';
  if (refusesLegacy && isOn && factor?.algorithm === 'SHA1') throw legacyApp();
  const isRight =
    factor !== null &&
    (isOn || isSetUp) &&
    (isOfApp
      ? await redeemAppCode(context, factor, given)
      : await redeemBackupCode(adapter, factor, { code, hasher }));
  if (!isRight) {
    await record(context, userId, 'failure', given);
    throw refusesLegacy && isSetUp ? legacyApp() : wrongCode();
  }
  await throttles.reset(keyOf(userId));
  return isOfApp ? 'a code' : 'a backup code';
}

/** Counts an attempt first, so that parallel ones do not pass the limit. */
async function takeAttempt(context: LibraryContext, userId: string, options: CodeOptions): Promise<void> {
  const limit = { attemptsMax: guessesMax, windowMs: codeLockSeconds * secondMs };
  const { isAllowed } = await options.throttles.take(keyOf(userId), limit, options.clock.now());
  if (isAllowed) return;
  await record(context, userId, 'lockout', options);
  const minutes = limit.windowMs / minuteMs;
  throw new CallerStatsError(
    'too_many_attempts',
    `Too many wrong codes. Try again in ${minutes} min, or use a backup code then.`,
  );
}

async function record(
  context: LibraryContext,
  userId: string,
  event: 'failure' | 'lockout',
  { signInLog }: CodeOptions,
): Promise<void> {
  const user = await context.context.internalAdapter.findUserById(userId);
  const address = context.headers?.get(ADDRESS_HEADER) ?? null;
  if (user !== null) await signInLog.record(event, { email: user.email, address, detail: 'codes' });
}

/**
 * Whether the code of an app is right and was not used before. One conditional statement decides that and remembers it, with
 * the hash function of the app: until the first code was right, an app that knows only SHA-1 may have taken it in spite of the
 * URI.
 */
async function redeemAppCode(
  { context }: LibraryContext,
  { id, secret: encrypted, verified, algorithm: own }: StoredFactor,
  { code, legacyAlgorithms }: GivenCode,
): Promise<boolean> {
  const secret = Secret.fromUTF8(await decryptStored(context.secretConfig, encrypted));
  const step = TOTP.counter();
  const possible: readonly CodeAlgorithm[] = legacyAlgorithms === 'refuse' ? ['SHA256'] : ['SHA256', 'SHA1'];
  const known = verified === false ? possible : [own];
  const algorithm = known.find((one) =>
    isEqual(HOTP.generate({ secret, algorithm: one, counter: step }), code),
  );
  if (algorithm === undefined) return false;
  const used = await context.adapter.updateMany({
    model: 'twoFactor',
    where: [
      { field: 'id', value: id },
      { field: 'lastStep', operator: 'lt', value: step },
    ],
    update: { lastStep: step, algorithm, verified: true },
  });
  return used > 0;
}

/** Throws `invalid` if this server does not have the secret any more. */
function decryptStored(key: FactorKey, data: string): Promise<string> {
  return symmetricDecrypt({ key, data }).catch((cause) => {
    const message =
      'Two-factor authentication was set up with a secret that this server does not have any more. ' +
      'Ask an administrator to turn it off with: caller-stats member reset --second-factor';
    throw new CallerStatsError('invalid', message, { cause });
  });
}

function wrongCode(): CallerStatsError {
  return new CallerStatsError(
    'wrong_credentials',
    'The code is wrong or too old; each works once, for half a minute.',
  );
}

function legacyApp(): CallerStatsError {
  return new CallerStatsError(
    'wrong_credentials',
    'The code is wrong, or the app knows only SHA-1, which this server does not accept. Use another app, a passkey or a backup code.',
  );
}

/** Far more than there are users of one server. */
const factorsMax = 100_000;

interface Renewal {
  readonly adapter: Pick<DBAdapter, 'findMany' | 'updateMany'>;
  readonly secretConfig: FactorKey;
}

/** Encrypts all second factors with the newest secret, so that the older ones are needed no longer than the sessions. */
export async function renewSecondFactors({ adapter, secretConfig: key }: Renewal): Promise<void> {
  if (typeof key === 'string') return;
  const model = 'twoFactor';
  const factors = await adapter.findMany<StoredFactor>({ model, limit: factorsMax });
  for (const { id, secret } of factors) {
    if (parseEnvelope(secret)?.version === key.currentVersion) continue;
    try {
      const renewed = await symmetricEncrypt({ key, data: await symmetricDecrypt({ key, data: secret }) });
      const where = [
        { field: 'id', value: id },
        { field: 'secret', value: secret },
      ];
      await adapter.updateMany({ model, where, update: { secret: renewed } });
    } catch (error) {
      // Its secret is gone: the user is told when a code is needed.
      if (isUnavailable(error)) throw error;
    }
  }
}

function isEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** A hash, so that the counts in the store say nothing of people. */
function keyOf(userId: string): string {
  return createHash('sha256').update(`codes of user ${userId}`).digest('base64url');
}
