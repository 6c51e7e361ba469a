/** Who is signed in, and what this server is like. */
import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { request } from './client.js';
import { queryClient, sessionKey } from './query-client.js';
import type { Organization, Session, User } from './types.js';

const session = {
  queryKey: sessionKey,
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    request<Session>('GET', '/api/session', undefined, signal),
  staleTime: 60_000,
};

/** The session while it is being read, and when it could not be. */
export function useSessionQuery() {
  return useQuery(session);
}

/** The session, below whatever has waited for it. */
export function useSession(): Session {
  return useSuspenseQuery(session).data;
}

/** The signed-in user, on pages that only they see. */
export function useUser(): User {
  const { user } = useSession();
  if (user === null) throw new Error('nobody is signed in');
  return user;
}

export function useOrganizations(): readonly Organization[] {
  return useSession().organizations;
}

/** Reads the session again, after it was changed; resolves when it is known. */
export async function refreshSession(): Promise<void> {
  await queryClient.invalidateQueries({ queryKey: sessionKey });
}
