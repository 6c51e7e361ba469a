/**
 * Creates and checks passkeys as endpoints of the sign-in library, which begin its sessions. `@simplewebauthn/server` verifies
 * what browsers send; the store remembers used challenges. The library's own plugin signs in without PIN or
 * fingerprint, accepts two uses of one counter, RSA whatever the settings, and any number of passkeys, stores a row for each
 * anonymous start, and has no second step after a password.
 */
import {
  type AuthenticationResponseJSON,
  generateAuthenticationOptions,
  generateRegistrationOptions,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import { cose, decodeCredentialPublicKey } from '@simplewebauthn/server/helpers';
import type { BetterAuthPlugin } from 'better-auth';
import { createAuthEndpoint } from 'better-auth/api';
import { setSessionCookie } from 'better-auth/cookies';
import { CallerStatsError } from '../../domain/errors.js';
import { passkeyChallengeSeconds, passkeysMax } from '../../domain/limits.js';
import type { Clock } from '../../domain/time/clock.js';
import { secondMs } from '../../domain/time/duration.js';
import type { Throttles } from '../../storage/ports/throttles.js';
import type { LegacyAlgorithms } from '../names.js';
import { findSecondStep, finishSecondStep } from '../second-factor/challenge.js';
import {
  bodyOf,
  type LibraryContext,
  requireSession,
  signInAgain,
} from '../second-factor/library-context.js';
import { endOtherSessions, replaceSessions } from '../second-factor/other-sessions.js';
import { findFactor } from '../second-factor/stored-factor.js';
import { findChallenge, issueChallenge, type Purpose, redeemChallenge } from './challenge.js';
import { findCredential, findPasskeys, PASSKEY_SCHEMA, type PasskeyRow } from './passkey-rows.js';
import type { RelyingParty } from './relying-party.js';

interface CeremonyOptions {
  readonly throttles: Pick<Throttles, 'take'>;
  readonly clock: Clock;
  readonly legacyAlgorithms: LegacyAlgorithms;
}

export interface Registration {
  readonly relyingParty: RelyingParty;
  /** What the user calls the passkey. */
  readonly name: string;
  /** What the browser says of the passkey that it created. */
  readonly response: RegistrationResponseJSON;
}

export interface Assertion {
  readonly relyingParty: RelyingParty;
  /** The challenge that a passkey signed. */
  readonly response: AuthenticationResponseJSON;
}

/** WebAuthn, "Authenticator Transport Enumeration". */
const TRANSPORTS = ['ble', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'];

/** Signatures with elliptic curves: Ed25519 and ES256 (IANA, "COSE Algorithms"). Browsers take the first that they can. */
const APPROVED = [-8, -7] as const;
/** RS256, of older devices. */
const LEGACY = -257;

const timeout = passkeyChallengeSeconds * secondMs;

export function passkeyCeremonies(options: CeremonyOptions) {
  return {
    id: 'passkeys',
    schema: PASSKEY_SCHEMA,
    endpoints: { ...registration(options), ...signIn(options), ...secondStep(options), ...check(options) },
  } satisfies BetterAuthPlugin;
}

function registration({ throttles, clock, legacyAlgorithms }: CeremonyOptions) {
  const supportedAlgorithmIDs = legacyAlgorithms === 'refuse' ? [...APPROVED] : [...APPROVED, LEGACY];
  return {
    startPasskey: createAuthEndpoint.serverOnly(
      bodyOf<Pick<Assertion, 'relyingParty'>>(),
      async (context) => {
        const { user } = await requireSession(context);
        const present = await findPasskeys(context.context.adapter, user.id);
        if (present.length >= passkeysMax) throw tooMany();
        return generateRegistrationOptions({
          rpName: 'caller-stats',
          rpID: context.body.relyingParty.id,
          challenge: fromBase64(
            await issueChallenge(context, { purpose: 'register', userId: user.id }, clock),
          ),
          userID: new TextEncoder().encode(user.id),
          userName: user.email,
          userDisplayName: user.name,
          timeout,
          supportedAlgorithmIDs,
          excludeCredentials: present.map(toDescriptor),
          authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
        });
      },
    ),
    addPasskey: createAuthEndpoint.serverOnly(bodyOf<Registration>(), async (context) => {
      const session = await requireSession(context);
      const { adapter } = context.context;
      const { name, response, relyingParty } = context.body;
      const userId = session.user.id;
      const challenge = await findChallenge(context, { purpose: 'register', userId }, clock);
      if (challenge === undefined) throw expired();
      const verified = await verifyRegistrationResponse({
        response,
        expectedChallenge: challenge,
        expectedOrigin: relyingParty.origin,
        expectedRPID: relyingParty.id,
        requireUserVerification: false,
        supportedAlgorithmIDs,
      }).catch(() => undefined);
      if (verified?.registrationInfo === undefined) throw invalidPasskey();
      if ((await findPasskeys(adapter, userId)).length >= passkeysMax) throw tooMany();
      if (!(await redeemChallenge(context, challenge, { throttles, clock }))) throw expired();
      const { id, publicKey, counter, transports = [] } = verified.registrationInfo.credential;
      const known = TRANSPORTS.filter((transport) => transports.includes(transport));
      if ((await findCredential(adapter, id)) !== null) throw invalidPasskey();
      await endOtherSessions(context, session);
      await adapter.create({
        model: 'passkey',
        data: {
          userId,
          name,
          relyingPartyId: relyingParty.id,
          credentialId: id,
          publicKey: Buffer.from(publicKey).toString('base64url'),
          counter,
          transports: known.join(','),
          createdAt: new Date(clock.now()),
          lastUsedAt: null,
        },
      });
      if (!(await replaceSessions(context, session))) {
        await adapter.deleteMany({ model: 'passkey', where: [{ field: 'credentialId', value: id }] });
        throw signInAgain();
      }
      return context.json({ ok: true });
    }),
  };
}

function signIn(options: CeremonyOptions) {
  return {
    startPasskeySignIn: createAuthEndpoint.serverOnly(
      bodyOf<Pick<Assertion, 'relyingParty'>>(),
      async (context) => startAssertion(context, { purpose: 'sign-in', userId: '', passkeys: [] }, options),
    ),
    signInWithPasskey: createAuthEndpoint.serverOnly(bodyOf<Assertion>(), async (context) => {
      const passkey = await checkAssertion(context, { purpose: 'sign-in', userId: '' }, options);
      return beginSession(context, passkey);
    }),
  };
}

function secondStep(options: CeremonyOptions) {
  return {
    /** What may answer the second step of this browser. */
    startSecondStep: createAuthEndpoint.serverOnly(
      bodyOf<{ readonly relyingParty: RelyingParty | undefined }>(),
      async (context) => {
        const step = await findSecondStep(context);
        if (step === undefined) throw signInAgain();
        const { adapter } = context.context;
        const factor = await findFactor(adapter, step.userId);
        const { relyingParty } = context.body;
        const passkeys = await findUsable(context, step.userId, relyingParty);
        return {
          codes: factor !== null && factor.verified !== false,
          passkey:
            relyingParty === undefined || passkeys.length === 0
              ? null
              : await startAssertion(
                  { ...context, body: { relyingParty } },
                  { purpose: 'second-factor', userId: step.userId, passkeys },
                  options,
                ),
        };
      },
    ),
    finishSecondStep: createAuthEndpoint.serverOnly(
      bodyOf<Assertion & { readonly trustDevice: boolean }>(),
      async (context) => {
        const step = await findSecondStep(context);
        if (step === undefined) throw signInAgain();
        const passkey = await checkAssertion(
          context,
          { purpose: 'second-factor', userId: step.userId },
          options,
        );
        const user = await finishSecondStep(context, step, context.body);
        if (user === undefined) throw signInAgain();
        return context.json({ email: user.email, passkey: passkey.name });
      },
    ),
  };
}

/** Proves again who the signed-in user is. */
function check(options: CeremonyOptions) {
  return {
    startCheck: createAuthEndpoint.serverOnly(bodyOf<Pick<Assertion, 'relyingParty'>>(), async (context) => {
      const { user } = await requireSession(context);
      const passkeys = await findUsable(context, user.id, context.body.relyingParty);
      if (passkeys.length === 0) throw noneUsable();
      return startAssertion(context, { purpose: 'check', userId: user.id, passkeys }, options);
    }),
    checkPasskey: createAuthEndpoint.serverOnly(bodyOf<Assertion>(), async (context) => {
      const { user } = await requireSession(context);
      await checkAssertion(context, { purpose: 'check', userId: user.id }, options);
      return context.json({ ok: true });
    }),
  };
}

/** The passkeys of the user that work at this address. */
async function findUsable(
  { context: { adapter } }: LibraryContext,
  userId: string,
  relyingParty: RelyingParty | undefined,
): Promise<PasskeyRow[]> {
  return (await findPasskeys(adapter, userId)).filter(
    ({ relyingPartyId }) => relyingPartyId === relyingParty?.id,
  );
}

async function startAssertion(
  context: LibraryContext & { readonly body: Pick<Assertion, 'relyingParty'> },
  {
    passkeys,
    ...ceremony
  }: { readonly purpose: Purpose; readonly userId: string; readonly passkeys: readonly PasskeyRow[] },
  { clock }: CeremonyOptions,
) {
  return generateAuthenticationOptions({
    rpID: context.body.relyingParty.id,
    challenge: fromBase64(await issueChallenge(context, ceremony, clock)),
    timeout,
    allowCredentials: passkeys.map(toDescriptor),
    userVerification: ceremony.purpose === 'sign-in' ? 'required' : 'preferred',
  });
}

/** Returns the passkey that signed the challenge of this browser. Throws `wrong_credentials` in all other cases. */
async function checkAssertion(
  context: LibraryContext & { readonly body: Assertion },
  { purpose, userId }: { readonly purpose: Purpose; readonly userId: string },
  { throttles, clock, legacyAlgorithms }: CeremonyOptions,
): Promise<PasskeyRow> {
  const { response, relyingParty } = context.body;
  const { adapter } = context.context;
  const challenge = await findChallenge(context, { purpose, userId }, clock);
  const passkey = await findCredential(adapter, response.id);
  if (challenge === undefined || passkey === null || !isOf(passkey, { userId, response, relyingParty }))
    throw refused();
  if (legacyAlgorithms === 'refuse' && isLegacy(passkey)) throw refused();
  const verified = await verifyAuthenticationResponse({
    response,
    expectedChallenge: challenge,
    expectedOrigin: relyingParty.origin,
    expectedRPID: relyingParty.id,
    credential: {
      id: passkey.credentialId,
      publicKey: fromBase64(passkey.publicKey),
      counter: passkey.counter,
    },
    // Without a password, the passkey has to be two factors: the device, and a PIN or a fingerprint.
    requireUserVerification: purpose === 'sign-in',
  }).catch(() => undefined);
  if (verified?.verified !== true) throw refused();
  if (!(await redeemChallenge(context, challenge, { throttles, clock }))) throw refused();
  const used = await adapter.updateMany({
    model: 'passkey',
    // Of two uses at once, the second finds another counter, and so does a use of a passkey that was just removed.
    where: [
      { field: 'id', value: passkey.id },
      { field: 'counter', value: passkey.counter },
    ],
    update: { counter: verified.authenticationInfo.newCounter, lastUsedAt: new Date(clock.now()) },
  });
  if (used === 0) throw refused();
  return passkey;
}

/** Whether the passkey belongs to the user, if one must answer, and to the user that the device names, if it does. */
function isOf(
  passkey: PasskeyRow,
  { userId, response, relyingParty }: Assertion & { readonly userId: string },
): boolean {
  const { userHandle } = response.response ?? {};
  const named = userHandle === undefined || fromBase64(userHandle).toString() === passkey.userId;
  return named && [passkey.userId, ''].includes(userId) && passkey.relyingPartyId === relyingParty.id;
}

/** Whether its signatures are those of an older device. */
function isLegacy({ publicKey }: PasskeyRow): boolean {
  return cose.isCOSEPublicKeyRSA(decodeCredentialPublicKey(fromBase64(publicKey)));
}

async function beginSession(context: LibraryContext, { userId, name, credentialId }: PasskeyRow) {
  const { internalAdapter, adapter } = context.context;
  const user = await internalAdapter.findUserById(userId);
  if (user === null) throw refused();
  const session = await internalAdapter.createSession(userId, false);
  // Whoever removes a passkey ends sessions after that.
  if ((await findCredential(adapter, credentialId)) === null) {
    await internalAdapter.deleteSession(session.token);
    throw refused();
  }
  await setSessionCookie(context, { session, user });
  return context.json({ email: user.email, passkey: name });
}

function toDescriptor({ credentialId, transports }: PasskeyRow) {
  return { id: credentialId, transports: transports === '' ? [] : transports.split(',') };
}

function fromBase64(text: string): Buffer<ArrayBuffer> {
  return Buffer.from(text, 'base64url');
}

function refused(): CallerStatsError {
  return new CallerStatsError(
    'wrong_credentials',
    'The passkey was not accepted. Try again, or sign in another way.',
  );
}

function expired(): CallerStatsError {
  return new CallerStatsError('invalid', 'This took too long, or was begun in another window. Try again.');
}

function invalidPasskey(): CallerStatsError {
  return new CallerStatsError('invalid', 'The passkey could not be verified. Try again.');
}

function noneUsable(): CallerStatsError {
  return new CallerStatsError(
    'not_found',
    'No passkey of yours works at this address. Use a code, or ask an administrator to reset your second factor.',
  );
}

function tooMany(): CallerStatsError {
  return new CallerStatsError('invalid', `You have ${passkeysMax} passkeys already; remove one first.`);
}
