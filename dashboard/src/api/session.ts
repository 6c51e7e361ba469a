/** The signed-in user and the settings of this server. */
import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { ApiError, getQuery, request } from './client.js';
import { queryClient, recoveryMs, sessionPath } from './query-client.js';
import type { Organization, Session, User } from './types.js';

const { queryKey } = getQuery<Session>(sessionPath);

export const sessionQuery = { queryKey, queryFn: readSession, staleTime: 60_000 };

/** Loads the page again once its user's session has ended, so that the next user sees none of its data. */
async function readSession({ signal }: { readonly signal: AbortSignal }): Promise<Session> {
  const session = await request<Session>('GET', sessionPath, undefined, signal);
  const before = queryClient.getQueryData(queryKey)?.user ?? null;
  if (before === null || before.email === session.user?.email) return session;
  location.reload();
  return new Promise(() => {});
}

/** The session query, with its loading and error states. */
export function useSessionQuery() {
  return useQuery(sessionQuery);
}

/** The session, for components that render only after it has loaded. */
export function useSession(): Session {
  return useSuspenseQuery(sessionQuery).data;
}

/** The signed-in user, for pages behind the sign-in. */
export function useUser(): User {
  const { user } = useSession();
  if (user === null) throw new Error('nobody is signed in');
  return user;
}

export function useOrganizations(): readonly Organization[] {
  return useSession().organizations;
}

/** Resolves as soon as the server answers. Until then, the app shows that it cannot be reached. */
export async function untilServerAnswers(): Promise<void> {
  const asked = { ...sessionQuery, staleTime: 0, retryDelay: recoveryMs };
  const passes = (error: unknown) => error instanceof ApiError && error.passes;
  await queryClient.fetchQuery({ ...asked, retry: (_, error) => passes(error) }).catch(() => undefined);
}

/** The same after signing in. Throws if the server still sees a visitor: browsers that block cookies say nothing. */
export async function enterSession(): Promise<void> {
  await refreshSession();
  if (queryClient.getQueryData(sessionQuery.queryKey)?.user === null)
    throw new Error(
      'You signed in, but your browser did not keep the cookie of the session. Allow cookies for this site, then sign in again.',
    );
}

/** Reloads the session after a change; resolves once it has loaded. */
export async function refreshSession(): Promise<void> {
  await queryClient.invalidateQueries({ queryKey: [sessionPath] });
}
