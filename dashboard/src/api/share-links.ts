/** The share links of a project. */
import { getQuery, request } from './client.js';
import { organizationPath, type ProjectRef, projectPath } from './paths.js';
import { queryClient } from './query-client.js';
import type { CreatedShareLink, ShareLinks } from './types.js';

export function shareLinksQuery(ref: ProjectRef) {
  return getQuery<ShareLinks>(linksPath(ref));
}

export interface NewShareLink {
  readonly name: string;
  /** `90d`, a date, or `never`. */
  readonly expires: string;
  readonly password?: string;
  readonly origins?: readonly string[];
}

/** Creates a link. Only this response contains its token. */
export async function createShareLink(ref: ProjectRef, link: NewShareLink): Promise<CreatedShareLink> {
  const created = await request<CreatedShareLink>('POST', linksPath(ref), link);
  await queryClient.invalidateQueries(shareLinksQuery(ref));
  return created;
}

export async function revokeShareLink(ref: ProjectRef, id: string): Promise<void> {
  const path = `${organizationPath(ref.organizationId)}/share-links/${encodeURIComponent(id)}`;
  await request('DELETE', path);
  await queryClient.invalidateQueries(shareLinksQuery(ref));
}

function linksPath({ organizationId, projectId }: ProjectRef): string {
  return `${projectPath(organizationId, projectId)}/share-links`;
}
