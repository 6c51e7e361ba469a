/** The audit log of an organization, newest first. */
import { infiniteQueryOptions } from '@tanstack/react-query';
import { organizationPath, request } from './client.js';
import type { AuditPage } from './types.js';

/** Entries per page. */
const entriesOfPage = 50;

/** Filters of the log: `from`, `to`, `actor`, `action`, `target`. */
export type AuditFilter = Readonly<Record<string, string>>;

export function auditQuery(organizationId: string, filter: AuditFilter) {
  return infiniteQueryOptions({
    queryKey: ['organization', organizationId, 'audit', filter],
    queryFn: ({ pageParam, signal }) => {
      const query = new URLSearchParams({ ...filter, limit: String(entriesOfPage) });
      if (pageParam !== null) query.set('before', String(pageParam));
      return request<AuditPage>(
        'GET',
        `${organizationPath(organizationId)}/audit?${query}`,
        undefined,
        signal,
      );
    },
    initialPageParam: null as number | null,
    getNextPageParam: ({ entries, more }) => (more ? entries.at(-1)?.number : undefined),
  });
}
