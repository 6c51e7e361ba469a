/**
 * Checks codes of the second factor before the library does. Each code of an authenticator app works once, on any number of
 * nodes, and only in its half minute (OWASP ASVS 5.0, 6.5.5). Wrong codes are limited for each user.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { BetterAuthPlugin, DBAdapter } from 'better-auth';
import { APIError, createAuthMiddleware } from 'better-auth/api';
import { parseEnvelope, symmetricDecrypt, symmetricEncrypt } from 'better-auth/crypto';
import { HOTP, Secret, TOTP } from 'otpauth';
import { isUnavailable } from '../../domain/errors.js';
import { codeLockSeconds, guessesMax } from '../../domain/limits.js';
import type { Clock } from '../../domain/time/clock.js';
import { secondMs } from '../../domain/time/duration.js';
import type { Throttles } from '../../storage/ports/throttles.js';
import { ADDRESS_HEADER } from '../names.js';
import type { SignInLog } from '../sign-in-log.js';
import { type CodeHasher, hashBackupCode, hashEarlierCodes } from './backup-codes.js';
import { findChallengedUser, SECOND_FACTOR_TABLE } from './challenge.js';
import type { LibraryContext } from './library-context.js';
import {
  type CodeAlgorithm,
  decryptStored,
  type FactorKey,
  findFactor,
  type StoredFactor,
} from './stored-factor.js';

const TOTP_PATH = '/two-factor/verify-totp';
const PATHS: readonly unknown[] = [TOTP_PATH, '/two-factor/verify-backup-code'];

interface CodeGuardOptions {
  readonly throttles: Pick<Throttles, 'take' | 'reset'>;
  readonly clock: Clock;
  readonly signInLog: SignInLog;
  readonly passwords: CodeHasher;
}

export function guardCodes({ throttles, clock, signInLog, passwords: hasher }: CodeGuardOptions) {
  const limit = { attemptsMax: guessesMax, windowMs: codeLockSeconds * secondMs };
  const record = async (context: LibraryContext, userId: string, event: 'failure' | 'lockout') => {
    const user = await context.context.internalAdapter.findUserById(userId);
    const address = context.headers?.get(ADDRESS_HEADER) ?? null;
    if (user !== null) await signInLog.record(event, { email: user.email, address, detail: 'codes' });
  };
  const check = createAuthMiddleware(async (context) => {
    const userId = await findChallengedUser(context);
    if (userId === undefined) return undefined;
    // Counted first, so that parallel attempts do not pass the limit.
    const { isAllowed } = await throttles.take(keyOf(userId), limit, clock.now());
    if (!isAllowed) {
      await record(context, userId, 'lockout');
      throw new APIError('TOO_MANY_REQUESTS', { code: 'ACCOUNT_TEMPORARILY_LOCKED' });
    }
    const given = String(context.body.code);
    if (context.path !== TOTP_PATH) {
      const factor = await findFactor(context.context.adapter, userId);
      const code = factor === null ? given : await hashBackupCode(context, factor, { code: given, hasher });
      return { context: { body: { code } } };
    }
    const code = await redeemCode(context, userId, given);
    if (code !== undefined) return { context: { body: { code } } };
    await record(context, userId, 'failure');
    throw new APIError('UNAUTHORIZED', { code: 'INVALID_CODE' });
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
    hooks: { before: [{ matcher, handler: check }], after: [{ matcher, handler: settle }] },
  } satisfies BetterAuthPlugin;
}

/**
 * Whether the code is right and was not used before. One conditional statement decides that and remembers it, with the hash
 * function of the app: until the first code was right, an app that knows only SHA-1 may have taken it in spite of the URI.
 */
async function redeemCode(
  { context }: LibraryContext,
  userId: string,
  code: string,
): Promise<string | undefined> {
  const factor = await findFactor(context.adapter, userId);
  if (factor === null) return undefined;
  const secret = Secret.fromUTF8(await decryptStored(context.secretConfig, factor.secret));
  const step = TOTP.counter();
  const known: readonly CodeAlgorithm[] = factor.verified === false ? ['SHA256', 'SHA1'] : [factor.algorithm];
  const codeOf = (algorithm: CodeAlgorithm) => HOTP.generate({ secret, algorithm, counter: step });
  const algorithm = known.find((one) => isEqual(codeOf(one), code));
  if (algorithm === undefined) return undefined;
  const used = await context.adapter.incrementOne({
    model: 'twoFactor',
    where: [
      { field: 'id', value: factor.id },
      { field: 'lastStep', operator: 'lt', value: step },
    ],
    increment: {},
    set: { lastStep: step, algorithm },
  });
  // The library compares again, and knows only SHA-1.
  return used === null ? undefined : codeOf('SHA1');
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
