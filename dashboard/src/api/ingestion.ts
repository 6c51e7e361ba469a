/** What arrived at a project lately. */
import { getQuery } from './client.js';
import { type ProjectRef, projectPath } from './paths.js';
import type { Ingestion } from './types.js';

const refreshMs = 10_000;

export function ingestionQuery({ organizationId, projectId }: ProjectRef) {
  const path = `${projectPath(organizationId, projectId)}/ingestion`;
  return { ...getQuery<Ingestion>(path), refetchInterval: refreshMs };
}
