/** What is kept of the server's answers, and what happens when a request fails. */
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiError } from './client.js';

/** A query that failed is asked again this often, so that a page recovers by itself. */
const recoveryMs = 5_000;

export const sessionKey = ['session'] as const;

/** Whoever is told that they are signed out has the session read again, and with it goes to the sign-in page. */
function signedOut(error: unknown): void {
  if (error instanceof ApiError && error.status === 401)
    void queryClient.invalidateQueries({ queryKey: sessionKey });
}

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: signedOut }),
  mutationCache: new MutationCache({ onError: signedOut }),
  defaultOptions: {
    queries: {
      // The server may well be on this machine: whether there is a network says nothing.
      networkMode: 'always',
      refetchOnReconnect: true,
      staleTime: 5_000,
      retry: (failures, error) => failures < 2 && error instanceof ApiError && error.passes,
      retryDelay: (failures, error) =>
        error instanceof ApiError && error.retryAfterMs !== null
          ? Math.min(error.retryAfterMs, 60_000)
          : 500 * 2 ** failures,
      refetchInterval: ({ state: { status, error } }) =>
        status === 'error' && error instanceof ApiError && error.passes
          ? Math.max(recoveryMs, error.retryAfterMs ?? 0)
          : false,
    },
    mutations: { networkMode: 'always' },
  },
});
