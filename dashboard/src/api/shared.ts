/** What the holder of a share link may read. */
import { getQuery, request, sendTicket } from './client.js';
import type { CountsRef } from './paths.js';
import { queryClient } from './query-client.js';
import type { SharedProject, ShareTicket } from './types.js';

function sharedPath(token: string): string {
  return `/api/shared/${encodeURIComponent(token)}`;
}

export function sharedQuery(token: string) {
  return { ...getQuery<SharedProject>(sharedPath(token)), staleTime: Number.POSITIVE_INFINITY };
}

/** The counts of the link's project. */
export function sharedCounts(token: string): CountsRef {
  return { path: sharedPath(token) };
}

/** Sends the password of the link. The page may read the counts afterwards, until it is closed. */
export async function unlock(token: string, password: string): Promise<void> {
  const { ticket } = await request<ShareTicket>('POST', `${sharedPath(token)}/unlock`, { password });
  sendTicket(ticket);
  await queryClient.invalidateQueries(sharedQuery(token));
}
