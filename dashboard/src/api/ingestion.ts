/** What arrived at a project lately. */
import { queryOptions } from '@tanstack/react-query';
import { request } from './client.js';
import { projectPath } from './paths.js';
import type { ProjectRef } from './stats.js';
import type { Ingestion } from './types.js';

const refreshMs = 10_000;

export function ingestionQuery({ organizationId, projectId }: ProjectRef) {
  return queryOptions({
    queryKey: ['project', projectId, 'ingestion'],
    queryFn: ({ signal }) =>
      request<Ingestion>('GET', `${projectPath(organizationId, projectId)}/ingestion`, undefined, signal),
    refetchInterval: refreshMs,
  });
}
