/**
 * Checks codes of the second factor before the library does. Each code of an authenticator app works once, on any number of
 * nodes, and for at most a minute: the current one and the one before it. Wrong codes are limited for each user.
 */
import { createHash } from 'node:crypto';
import type { BetterAuthPlugin, DBAdapter } from 'better-auth';
import { APIError, createAuthMiddleware } from 'better-auth/api';
import { parseEnvelope, symmetricDecrypt, symmetricEncrypt } from 'better-auth/crypto';
import { Secret, TOTP } from 'otpauth';
import { CallerStatsError, isUnavailable } from '../../domain/errors.js';
import { codeLockSeconds, guessesMax } from '../../domain/limits.js';
import type { Clock } from '../../domain/time/clock.js';
import { secondMs } from '../../domain/time/duration.js';
import type { Throttles } from '../../storage/ports/throttles.js';
import { ADDRESS_HEADER } from '../names.js';
import type { SignInLog } from '../sign-in-log.js';
import { findChallengedUser, SECOND_FACTOR_TABLE } from './challenge.js';
import type { LibraryContext } from './library-context.js';

const TOTP_PATH = '/two-factor/verify-totp';
const PATHS: readonly unknown[] = [TOTP_PATH, '/two-factor/verify-backup-code'];

interface CodeGuardOptions {
  readonly throttles: Pick<Throttles, 'take' | 'reset'>;
  readonly clock: Clock;
  readonly signInLog: SignInLog;
}

export function guardCodes({ throttles, clock, signInLog }: CodeGuardOptions) {
  const limit = { attemptsMax: guessesMax, windowMs: codeLockSeconds * secondMs };
  const record = async (context: LibraryContext, userId: string, event: 'failure' | 'lockout') => {
    const user = await context.context.internalAdapter.findUserById(userId);
    const address = context.headers?.get(ADDRESS_HEADER) ?? null;
    if (user !== null) await signInLog.record(event, { email: user.email, address, detail: 'codes' });
  };
  const check = createAuthMiddleware(async (context) => {
    const userId = await findChallengedUser(context);
    if (userId === undefined) return;
    // Counted first, so that parallel attempts do not pass the limit.
    const { isAllowed } = await throttles.take(keyOf(userId), limit, clock.now());
    if (!isAllowed) {
      await record(context, userId, 'lockout');
      throw new APIError('TOO_MANY_REQUESTS', { code: 'ACCOUNT_TEMPORARILY_LOCKED' });
    }
    if (context.path === TOTP_PATH && !(await redeemCode(context, userId, String(context.body.code)))) {
      await record(context, userId, 'failure');
      throw new APIError('UNAUTHORIZED', { code: 'INVALID_CODE' });
    }
  });
  const settle = createAuthMiddleware(async (context) => {
    const { returned } = context.context;
    if (returned instanceof Error) {
      // A wrong backup code, which the library checks.
      const challenged = await findChallengedUser(context);
      if (challenged !== undefined) await record(context, challenged, 'failure');
      return;
    }
    const userId = (returned as { readonly user?: { readonly id: string } } | undefined)?.user?.id;
    if (userId !== undefined) await throttles.reset(keyOf(userId));
  });
  const matcher = ({ path }: { readonly path?: string | undefined }) => PATHS.includes(path);
  return {
    id: 'code-guard',
    schema: {
      twoFactor: {
        modelName: SECOND_FACTOR_TABLE,
        fields: {
          lastStep: { type: 'number', required: false, defaultValue: 0, input: false, returned: false },
        },
      },
    },
    hooks: { before: [{ matcher, handler: check }], after: [{ matcher, handler: settle }] },
  } satisfies BetterAuthPlugin;
}

/** Whether the code is right and was not used before. One conditional statement decides that and remembers it. */
async function redeemCode({ context }: LibraryContext, userId: string, code: string): Promise<boolean> {
  const ofUser = { field: 'userId', value: userId };
  const factor = await context.adapter.findOne<{ readonly secret: string }>({
    model: 'twoFactor',
    where: [ofUser],
  });
  if (factor === null) return false;
  const secret = await symmetricDecrypt({ key: context.secretConfig, data: factor.secret }).catch((cause) => {
    const message =
      'Two-factor authentication was set up with a secret that this server does not have any more. ' +
      'Ask an administrator to turn it off with: caller-stats member reset --second-factor';
    throw new CallerStatsError('invalid', message, { cause });
  });
  const step = findStep(secret, code);
  if (step === undefined) return false;
  const used = await context.adapter.incrementOne({
    model: 'twoFactor',
    where: [ofUser, { field: 'lastStep', operator: 'lt', value: step }],
    increment: {},
    set: { lastStep: step },
  });
  return used !== null;
}

/** The time step of a code, if it is the current one or the one before it. */
function findStep(secret: string, code: string): number | undefined {
  const totp = new TOTP({ secret: Secret.fromUTF8(secret) });
  const current = totp.counter();
  const timestamp = current * totp.period * secondMs;
  const delta = totp.validate({ token: code, timestamp, window: 1 });
  return delta === null || delta > 0 ? undefined : current + delta;
}

interface EncryptedFactor {
  readonly id: string;
  readonly secret: string;
  readonly backupCodes: string;
}

/** Far more than there are users of one server. */
const factorsMax = 100_000;

/** Encrypts all second factors with the newest secret, so that the older ones are needed no longer than the sessions. */
export async function renewSecondFactors({
  adapter,
  secretConfig: key,
}: {
  readonly adapter: Pick<DBAdapter, 'findMany' | 'updateMany'>;
  readonly secretConfig: LibraryContext['context']['secretConfig'];
}): Promise<void> {
  if (typeof key === 'string') return;
  const factors = await adapter.findMany<EncryptedFactor>({ model: 'twoFactor', limit: factorsMax });
  const renew = async (data: string) =>
    symmetricEncrypt({ key, data: await symmetricDecrypt({ key, data }) });
  for (const { id, secret, backupCodes } of factors) {
    if (parseEnvelope(secret)?.version === key.currentVersion) continue;
    try {
      const update = { secret: await renew(secret), backupCodes: await renew(backupCodes) };
      const unchanged = [
        { field: 'secret', value: secret },
        { field: 'backupCodes', value: backupCodes },
      ];
      await adapter.updateMany({
        model: 'twoFactor',
        where: [{ field: 'id', value: id }, ...unchanged],
        update,
      });
    } catch (error) {
      // Its secret is gone: the user is told when a code is needed.
      if (isUnavailable(error)) throw error;
    }
  }
}

/** A hash, so that the counts in the store say nothing of people. */
function keyOf(userId: string): string {
  return createHash('sha256').update(`codes of user ${userId}`).digest('base64url');
}
