import { type createAuthMiddleware, getSessionFromCtx } from 'better-auth/api';
import { CallerStatsError } from '../../domain/errors.js';

/** The context of an endpoint of the library. */
export type LibraryContext = Parameters<Parameters<typeof createAuthMiddleware>[0]>[0];

/** The form of a body, for the types of the library. */
export function bodyOf<Body>() {
  return { method: 'POST', metadata: { $Infer: { body: {} as Body } } } as const;
}

/** The session of the request, with its user. Throws `wrong_credentials` if it has none. */
export async function requireSession(context: LibraryContext) {
  const session = await getSessionFromCtx(context);
  if (session === null) throw signInAgain();
  return session;
}

export function signInAgain(): CallerStatsError {
  return new CallerStatsError('wrong_credentials', 'The sign-in has expired; begin again.');
}
