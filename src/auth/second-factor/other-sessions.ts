import type { BetterAuthPlugin } from 'better-auth';
import { createAuthEndpoint, getSessionFromCtx } from 'better-auth/api';
import { setSessionCookie } from 'better-auth/cookies';
import { CallerStatsError } from '../../domain/errors.js';
import { bodyOf, type LibraryContext, requireSession, signInAgain } from './library-context.js';
import { forgetLasting, forgetPending } from './trusted-devices.js';

type Found = NonNullable<Awaited<ReturnType<typeof getSessionFromCtx>>>;

/**
 * Ends the other sessions of the user, the trust in devices and the connections of applications. Called before the account is changed as
 * well as after it: a change that is cut off leaves none of them.
 */
export async function endOtherSessions(
  { context: { adapter } }: LibraryContext,
  { session: { token }, user: { id } }: Found,
): Promise<void> {
  await forgetLasting(adapter, id);
  const ofOthers = { field: 'token', operator: 'ne' as const, value: token };
  await adapter.deleteMany({ model: 'session', where: [{ field: 'userId', value: id }, ofOthers] });
}

/**
 * After a new second factor: gives the session another token, and ends the sessions of the user that began without the factor,
 * the trust in devices and the connections of applications. False if the session itself has ended meanwhile: the caller has to undo what it did.
 */
export async function replaceSessions(context: LibraryContext, found: Found): Promise<boolean> {
  const session = await renewToken(context, found);
  if (session === undefined) return false;
  await endOtherSessions(context, { session, user: found.user });
  return true;
}

/** The ids of the other sessions, at most 1,000. */
async function listOthers(
  adapter: LibraryContext['context']['adapter'],
  { session: { id }, user }: Found,
): Promise<string[]> {
  const where = [
    { field: 'userId', value: user.id },
    { field: 'id', operator: 'ne' as const, value: id },
  ];
  const others = await adapter.findMany<{ readonly id: string }>({ model: 'session', where, limit: 1000 });
  return others.map((other) => other.id);
}

export function sessionRenewal() {
  return {
    id: 'session-renewal',
    endpoints: {
      /**
       * Ends all other sessions and what was begun. The library's own does it before it writes the password, and overwrites one that
       * a link has set meanwhile.
       */
      replacePassword: createAuthEndpoint.serverOnly(
        bodyOf<{ readonly currentPassword: string; readonly newPassword: string }>(),
        async (context) => {
          const found = await requireSession(context);
          const { adapter, internalAdapter, password } = context.context;
          const { currentPassword, newPassword } = context.body;
          // Before the password is read: whoever changes it meanwhile gets a session that this change must not end.
          const others = await listOthers(adapter, found);
          const { id = '', password: hash } =
            (await internalAdapter.findCredentialAccount(found.user.id)) ?? {};
          const isRight = hash ? await password.verify({ hash, password: currentPassword }) : false;
          if (!hash || !isRight)
            throw new CallerStatsError('wrong_credentials', 'The current password is wrong.');
          const where = [
            { field: 'id', value: id },
            { field: 'password', value: hash },
          ];
          const update = { password: await password.hash(newPassword) };
          await forgetPending(adapter, found.user.id);
          const listed = { field: 'id', operator: 'in' as const, value: others };
          // PostgreSQL has no empty lists.
          if (others.length > 0) await adapter.deleteMany({ model: 'session', where: [listed] });
          if ((await adapter.updateMany({ model: 'account', where, update })) === 0) throw signInAgain();
          await forgetPending(adapter, found.user.id);
          if (!(await replaceSessions(context, found))) throw signInAgain();
          return context.json({ ok: true });
        },
      ),
      /** Gives the session another token after its user typed the password again (OWASP ASVS 5.0, 7.2.4). */
      renewSession: createAuthEndpoint.serverOnly(bodyOf<object>(), async (context) => {
        const found = await getSessionFromCtx(context);
        // What the password was for may have ended or replaced the session.
        return context.json({ ok: found !== null && (await renewToken(context, found)) !== undefined });
      }),
    },
  } satisfies BetterAuthPlugin;
}

/** Undefined if the session has ended: the copy is made first, so that whatever ends all sessions meets one of the two. */
async function renewToken(context: LibraryContext, { session, user }: Found) {
  const { adapter, internalAdapter } = context.context;
  const copy = await internalAdapter.createSession(user.id, false, session);
  const where = [
    { field: 'userId', value: user.id },
    { field: 'id', value: session.id },
  ];
  if ((await adapter.deleteMany({ model: 'session', where })) === 0) {
    await internalAdapter.deleteSession(copy.token);
    return undefined;
  }
  await setSessionCookie(context, { session: copy, user });
  return copy;
}
