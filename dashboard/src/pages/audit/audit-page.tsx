/** Who changed what, and when. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { useSearch } from 'wouter';
import { type AuditFilter, auditQuery } from '../../api/audit.js';
import type { Organization } from '../../api/types.js';
import { Page } from '../../components/content/page.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { Loaded } from '../../components/feedback/loaded.js';
import { Failure } from '../../components/feedback/notice.js';
import { Button } from '../../components/forms/button.js';
import { useOrganization } from '../../navigation/current-project.js';
import { NotFoundPage } from '../not-found-page.js';
import { AuditFilters } from './audit-filters.js';
import { AuditTable } from './audit-table.js';
import { DownloadAudit } from './download-audit.js';
import { readFilter, toAuditFilter } from './filter.js';
import './audit.css';

export function AuditPage() {
  const organization = useOrganization();
  const filter = toAuditFilter(readFilter(new URLSearchParams(useSearch())));
  if (organization === null) return <NotFoundPage what="You belong to no organization." />;
  return (
    <Page
      title="Audit log"
      of={organization.name}
      actions={<DownloadAudit organization={organization} filter={filter} />}
      lead="Every change to projects, keys and members, newest first. Entries are never changed."
    >
      <AuditFilters />
      <Entries organization={organization} filter={filter} />
    </Page>
  );
}

function Entries({ organization, filter }: { organization: Organization; filter: AuditFilter }) {
  const query = useInfiniteQuery(auditQuery(organization.id, filter));
  return (
    <Loaded query={query} what="The audit log" rows={8}>
      {({ pages }) => {
        const entries = pages.flatMap((page) => page.entries);
        return entries.length === 0 ? (
          <div className="card">
            <EmptyState title="No entries">Nothing was changed that fits these filters.</EmptyState>
          </div>
        ) : (
          <>
            <AuditTable organization={organization} entries={entries} />
            {query.hasNextPage && (
              <div className="row">
                <Button busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
                  Load more
                </Button>
              </div>
            )}
            {query.isFetchNextPageError && (
              <Failure
                error={query.error ?? new Error()}
                what="More could not be read."
                onRetry={() => void query.fetchNextPage()}
              />
            )}
          </>
        );
      }}
    </Loaded>
  );
}
