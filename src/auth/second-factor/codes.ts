/**
 * Checks codes of the second factor before the library does. Each code of an authenticator app works once, on any number of
 * nodes, and only in its half minute (OWASP ASVS 5.0, 6.5.5). Wrong codes are limited for each user.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { BetterAuthPlugin, DBAdapter } from 'better-auth';
import { APIError, createAuthEndpoint, createAuthMiddleware, getSessionFromCtx } from 'better-auth/api';
import { parseEnvelope, symmetricDecrypt, symmetricEncrypt } from 'better-auth/crypto';
import { HOTP, Secret, TOTP } from 'otpauth';
import { CallerStatsError, isUnavailable } from '../../domain/errors.js';
import { codeLockSeconds, guessesMax } from '../../domain/limits.js';
import type { Clock } from '../../domain/time/clock.js';
import { secondMs } from '../../domain/time/duration.js';
import type { Throttles } from '../../storage/ports/throttles.js';
import { ADDRESS_HEADER, type LegacyAlgorithms } from '../names.js';
import type { SignInLog } from '../sign-in-log.js';
import { type CodeHasher, hashBackupCode, hashEarlierCodes } from './backup-codes.js';
import { findChallengedUser, findSecondStep, finishSecondStep, SECOND_FACTOR_TABLE } from './challenge.js';
import { bodyOf, type LibraryContext } from './library-context.js';
import { replaceSessions } from './other-sessions.js';
import {
  type CodeAlgorithm,
  decryptStored,
  type FactorKey,
  findFactor,
  type StoredFactor,
} from './stored-factor.js';

const BACKUP_CODE_PATH = '/two-factor/verify-backup-code';

interface CodeGuardOptions {
  readonly throttles: Pick<Throttles, 'take' | 'reset'>;
  readonly clock: Clock;
  readonly signInLog: SignInLog;
  readonly passwords: CodeHasher;
  readonly legacyAlgorithms: LegacyAlgorithms;
}

export function guardCodes(options: CodeGuardOptions) {
  return {
    id: 'code-guard',
    schema: {
      twoFactor: {
        modelName: SECOND_FACTOR_TABLE,
        fields: {
          lastStep: { type: 'number', required: false, defaultValue: 0, input: false, returned: false },
          algorithm: {
            type: 'string',
            required: false,
            defaultValue: 'SHA256',
            input: false,
            returned: false,
          },
        },
      },
    },
    endpoints: codeEndpoints(options),
    hooks: backupCodeHooks(options),
  } satisfies BetterAuthPlugin;
}

/** Codes of apps. The library's own endpoint knows only SHA-1. */
function codeEndpoints(options: CodeGuardOptions) {
  const { throttles } = options;
  return {
    /** The second step of signing in. */
    verifyCode: createAuthEndpoint.serverOnly(
      bodyOf<{ readonly code: string; readonly trustDevice: boolean }>(),
      async (context) => {
        const { code, trustDevice } = context.body;
        const step = await findSecondStep(context);
        if (step === undefined) throw wrongCode();
        await requireCode(context, step.userId, { code, isSetUp: false, ...options });
        const user = await finishSecondStep(context, step, { trustDevice });
        if (user === undefined) throw wrongCode();
        await throttles.reset(keyOf(step.userId));
        return context.json({ user: { email: user.email } });
      },
    ),
    /** Turns the factor of the signed-in user on. */
    confirmCodes: createAuthEndpoint.serverOnly(bodyOf<{ readonly code: string }>(), async (context) => {
      const found = await getSessionFromCtx(context);
      if (found === null) throw wrongCode();
      const { id } = found.user;
      await requireCode(context, id, { code: context.body.code, isSetUp: true, ...options });
      await throttles.reset(keyOf(id));
      const user = await context.context.internalAdapter.updateUser(id, { twoFactorEnabled: true });
      await replaceSessions(context, { ...found, user });
      return context.json({ ok: true });
    }),
  };
}

/** The library checks backup codes. */
function backupCodeHooks(options: CodeGuardOptions) {
  const { throttles, passwords: hasher } = options;
  const matcher = ({ path }: { readonly path?: string | undefined }) => path === BACKUP_CODE_PATH;
  const check = createAuthMiddleware(async (context) => {
    const userId = await findChallengedUser(context);
    if (userId === undefined) return undefined;
    await takeAttempt(context, userId, options);
    const given = String(context.body.code);
    const factor = await findFactor(context.context.adapter, userId);
    const code = factor === null ? given : await hashBackupCode(context, factor, { code: given, hasher });
    return { context: { body: { code } } };
  });
  const settle = createAuthMiddleware(async (context) => {
    const { returned } = context.context;
    if (returned instanceof Error) {
      const challenged = await findChallengedUser(context);
      if (challenged !== undefined) await record(context, challenged, 'failure', options);
      return;
    }
    const userId = (returned as { readonly user?: { readonly id: string } } | undefined)?.user?.id;
    if (userId !== undefined) await throttles.reset(keyOf(userId));
  });
  return { before: [{ matcher, handler: check }], after: [{ matcher, handler: settle }] };
}

/** Counts an attempt first, so that parallel ones do not pass the limit. */
async function takeAttempt(
  context: LibraryContext,
  userId: string,
  options: CodeGuardOptions,
): Promise<void> {
  const limit = { attemptsMax: guessesMax, windowMs: codeLockSeconds * secondMs };
  const { isAllowed } = await options.throttles.take(keyOf(userId), limit, options.clock.now());
  if (isAllowed) return;
  await record(context, userId, 'lockout', options);
  throw new APIError('TOO_MANY_REQUESTS', { code: 'ACCOUNT_TEMPORARILY_LOCKED' });
}

async function record(
  context: LibraryContext,
  userId: string,
  event: 'failure' | 'lockout',
  { signInLog }: CodeGuardOptions,
): Promise<void> {
  const user = await context.context.internalAdapter.findUserById(userId);
  const address = context.headers?.get(ADDRESS_HEADER) ?? null;
  if (user !== null) await signInLog.record(event, { email: user.email, address, detail: 'codes' });
}

interface GivenCode extends CodeGuardOptions {
  readonly code: string;
  /** Whether the code shows that the app was set up. Until then, no code opens anything. */
  readonly isSetUp: boolean;
}

/** Throws unless the code of an app is right and was not used before. */
async function requireCode(context: LibraryContext, userId: string, given: GivenCode): Promise<void> {
  await takeAttempt(context, userId, given);
  const factor = await findFactor(context.context.adapter, userId);
  const isLegacy = factor?.verified !== false && factor?.algorithm === 'SHA1';
  if (isLegacy && given.legacyAlgorithms === 'refuse') throw legacyApp();
  if (factor !== null && (await redeemCode(context, factor, given))) return;
  await record(context, userId, 'failure', given);
  throw given.isSetUp && given.legacyAlgorithms === 'refuse' ? legacyApp() : wrongCode();
}

/**
 * Whether the code is right and was not used before. One conditional statement decides that and remembers it, with the hash
 * function of the app: until the first code was right, an app that knows only SHA-1 may have taken it in spite of the URI.
 */
async function redeemCode(
  { context }: LibraryContext,
  { id, secret: encrypted, verified, algorithm: own }: StoredFactor,
  { code, isSetUp, legacyAlgorithms }: GivenCode,
): Promise<boolean> {
  if (verified === false && !isSetUp) return false;
  const secret = Secret.fromUTF8(await decryptStored(context.secretConfig, encrypted));
  const step = TOTP.counter();
  const possible: readonly CodeAlgorithm[] = legacyAlgorithms === 'refuse' ? ['SHA256'] : ['SHA256', 'SHA1'];
  const known = verified === false ? possible : [own];
  const algorithm = known.find((one) =>
    isEqual(HOTP.generate({ secret, algorithm: one, counter: step }), code),
  );
  if (algorithm === undefined) return false;
  const used = await context.adapter.incrementOne({
    model: 'twoFactor',
    where: [
      { field: 'id', value: id },
      { field: 'lastStep', operator: 'lt', value: step },
    ],
    increment: {},
    set: { lastStep: step, algorithm, verified: true },
  });
  return used !== null;
}

function wrongCode(): APIError {
  return new APIError('UNAUTHORIZED', { code: 'INVALID_CODE' });
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
  readonly adapter: Pick<DBAdapter, 'findMany' | 'findOne' | 'updateMany'>;
  readonly secretConfig: FactorKey;
}

/** Encrypts all second factors with the newest secret, so that the older ones are needed no longer than the sessions. */
export async function renewSecondFactors({ adapter, secretConfig: key }: Renewal): Promise<void> {
  if (typeof key === 'string') return;
  await forEachFactor(adapter, async ({ id, secret }) => {
    if (parseEnvelope(secret)?.version === key.currentVersion) return;
    const update = {
      secret: await symmetricEncrypt({ key, data: await symmetricDecrypt({ key, data: secret }) }),
    };
    const where = [
      { field: 'id', value: id },
      { field: 'secret', value: secret },
    ];
    await adapter.updateMany({ model: 'twoFactor', where, update });
  });
}

/** Hashes the backup codes that an earlier version encrypted. */
export async function renewBackupCodes(
  { adapter, secretConfig: key }: Renewal,
  hasher: CodeHasher,
): Promise<void> {
  await forEachFactor(adapter, (factor) => hashEarlierCodes(factor, { adapter, key, hasher }));
}

async function forEachFactor(
  adapter: Renewal['adapter'],
  renew: (factor: StoredFactor) => Promise<unknown>,
): Promise<void> {
  const factors = await adapter.findMany<StoredFactor>({ model: 'twoFactor', limit: factorsMax });
  for (const factor of factors) {
    try {
      await renew(factor);
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
