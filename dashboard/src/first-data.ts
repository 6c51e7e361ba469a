/** Fills the cache with what the first view shows, so that it is complete when it is first rendered. */
import { projectsQuery } from './api/projects.js';
import { queryClient } from './api/query-client.js';
import { sessionQuery } from './api/session.js';
import { comparedCountsQuery, countsQuery, readingQuery } from './api/stats.js';
import type { Projects } from './api/types.js';
import { findFirstView } from './first-requests.js';
import { now } from './time/clock.js';
import { ALL_TIME, isOpen } from './time/range.js';

/** If the responses take longer, the page shows its outline first. */
const patienceMs = 100;

/** Resolves when the responses are cached, or when waiting for them would be noticed. */
export function cacheFirstData(): Promise<void> {
  return Promise.race([cacheAll(), new Promise<void>((resolve) => setTimeout(resolve, patienceMs))]);
}

async function cacheAll(): Promise<void> {
  await queryClient.prefetchQuery(sessionQuery);
  const session = queryClient.getQueryData(sessionQuery.queryKey);
  if (session === undefined) return;
  const open = session.organizations.filter(({ locked }) => !locked);
  await Promise.all(open.map(({ id }) => queryClient.prefetchQuery(projectsQuery(id))));
  const projects: Record<string, Projects> = {};
  for (const { id } of open) {
    const list = queryClient.getQueryData(projectsQuery(id).queryKey);
    if (list !== undefined) projects[id] = list;
  }
  const view = findFirstView({ session, projects }, location);
  if (view === undefined) return;
  const { counts, shown, compared, isDefault } = view;
  await Promise.all([
    queryClient.prefetchQuery(readingQuery(shown, isOpen(shown.range, now()))),
    compared && queryClient.prefetchQuery(comparedCountsQuery(counts, compared, shown.caller)),
    isDefault && queryClient.prefetchQuery(countsQuery(counts, ALL_TIME)),
  ]);
}
