/** The audit log of an organization, newest first. */
import { infiniteQueryOptions } from '@tanstack/react-query';
import { auditEntriesMax } from '../../../src/domain/limits.js';
import { request } from './client.js';
import { organizationPath } from './paths.js';
import type { AuditEntry, AuditPage } from './types.js';

/** Entries per page. */
const entriesOfPage = 50;

/** Entries per request of a download: the most that the server sends. */
const entriesOfDownload = auditEntriesMax - 1;

/** Filters of the log: `from`, `to`, `actor`, `action`, `target`. */
export type AuditFilter = Readonly<Record<string, string>>;

export function auditQuery(organizationId: string, filter: AuditFilter) {
  return infiniteQueryOptions({
    queryKey: ['organization', organizationId, 'audit', filter],
    queryFn: ({ pageParam, signal }) =>
      readPage(organizationId, { ...filter, ...pageParam, limit: String(entriesOfPage) }, signal),
    initialPageParam: {} as AuditFilter,
    getNextPageParam,
  });
}

/** All entries that fit the filter, newest first. */
export async function readAllEntries(organizationId: string, filter: AuditFilter): Promise<AuditEntry[]> {
  const all: AuditEntry[] = [];
  for (let next: AuditFilter | undefined = {}; next !== undefined; ) {
    const page: AuditPage = await readPage(organizationId, {
      ...filter,
      ...next,
      limit: String(entriesOfDownload),
    });
    all.push(...page.entries);
    next = getNextPageParam(page);
  }
  return all;
}

function readPage(organizationId: string, filter: AuditFilter, signal?: AbortSignal): Promise<AuditPage> {
  const query = new URLSearchParams(filter);
  return request('GET', `${organizationPath(organizationId)}/audit?${query}`, undefined, signal);
}

/** What a request for the next page adds to the filter; undefined after the last page. */
function getNextPageParam({ entries, more }: AuditPage): AuditFilter | undefined {
  const last = entries.at(-1);
  return more && last !== undefined ? { before: String(last.number) } : undefined;
}
