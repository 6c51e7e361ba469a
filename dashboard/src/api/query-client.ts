/** The cache of server responses, and what happens when a request fails. */
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiError } from './client.js';

/** Failed queries are retried at this interval, so that a page recovers by itself. */
export const recoveryMs = 5_000;

export const sessionPath = '/api/session';

/** Reloads the session, which then leads to the sign-in page, or to setting up a second factor that is required now. */
function signedOut(error: unknown): void {
  if (error instanceof ApiError && (error.status === 401 || error.code === 'second_factor_required'))
    void queryClient.invalidateQueries({ queryKey: [sessionPath] });
}

/** A query that may have failed. */
export interface Failing {
  readonly state: { readonly status: string; readonly error: unknown };
}

/** When a failed query is sent again; false if that would not help. */
export function recoverAfter({ state: { status, error } }: Failing): number | false {
  return status === 'error' && error instanceof ApiError && error.passes
    ? Math.max(recoveryMs, error.retryAfterMs ?? 0)
    : false;
}

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: signedOut }),
  mutationCache: new MutationCache({ onError: signedOut }),
  defaultOptions: {
    queries: {
      // The server may run on this machine, so being offline does not mean that it is unreachable.
      networkMode: 'always',
      refetchOnReconnect: true,
      staleTime: 5_000,
      retry: (failures, error) => failures < 2 && error instanceof ApiError && error.passes,
      retryDelay: (failures, error) =>
        error instanceof ApiError && error.retryAfterMs !== null
          ? Math.min(error.retryAfterMs, 60_000)
          : 500 * 2 ** failures,
      refetchInterval: recoverAfter,
    },
    mutations: { networkMode: 'always' },
  },
});
