/** What arrived for a project lately, and what became of it. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { roleAllows } from '../../../../src/domain/people/member.js';
import { ingestionQuery } from '../../api/ingestion.js';
import { keysQuery } from '../../api/keys.js';
import type { Ingestion, IngestionSource } from '../../api/types.js';
import { DocsLink } from '../../components/content/docs-link.js';
import { Page } from '../../components/content/page.js';
import { Tabs } from '../../components/content/tabs.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { Loaded } from '../../components/feedback/loaded.js';
import { type CurrentProject, projectPage } from '../../navigation/current-project.js';
import { lazyPart } from '../../navigation/lazy-code.js';
import { dayOf } from '../../time/calendar.js';
import { now } from '../../time/clock.js';
import type { CorrectionStart } from '../corrections/correction-dialog.js';
import { senderOf } from '../corrections/senders.js';
import { LossNotice } from './loss-notice.js';
import { Refusals } from './refusals.js';
import { SourcesTable } from './sources-table.js';
import { Unmatched } from './unmatched.js';
import './sources.css';

const CorrectionDialog = lazyPart(() => import('../corrections/correction-dialog.js'), 'CorrectionDialog');

const WINDOWS = { 'Last hour': 'lastHour', 'Last day': 'lastDay' } as const;

type WindowName = keyof typeof WINDOWS;

const NAMES = Object.keys(WINDOWS) as WindowName[];

export function SourcesPage(current: CurrentProject) {
  const { organization, project } = current;
  const query = useQuery(ingestionQuery({ organizationId: organization.id, projectId: project.id }));
  return (
    <Page
      title="Sources"
      of={project.name}
      lead="Who sends to this project, and what becomes of it. Everything that arrives is in exactly one of the columns Recorded, Duplicates, Rejected and No rule."
    >
      <Loaded query={query} what="The sources" rows={4}>
        {(report) =>
          report.sources.length === 0 ? (
            <NoSources projectId={project.id} />
          ) : (
            <Report report={report} current={current} />
          )
        }
      </Loaded>
    </Page>
  );
}

function Report({ report, current }: { report: Ingestion; current: CurrentProject }) {
  const [name, setName] = useState<WindowName>('Last hour');
  const [correcting, setCorrecting] = useState<CorrectionStart | null>(null);
  const { data: listed } = useQuery({
    ...keysQuery(current.organization.id),
    enabled: roleAllows(current.organization.role, 'viewer'),
  });
  const window = WINDOWS[name];
  const correct = (source: IngestionSource) => {
    const recordedBy = senderOf(source, listed?.keys ?? []);
    if (recordedBy === undefined) return undefined;
    return () => setCorrecting({ recordedBy, day: dayOf(now()) });
  };
  return (
    <Tabs label="Time" tabs={NAMES} value={name} onChange={setName}>
      <div className="page sources">
        <LossNotice {...current} only="expiring" />
        <SourcesTable
          sources={report.sources}
          window={window}
          onCorrect={roleAllows(current.organization.role, 'editor') ? correct : undefined}
        />
        <Refusals report={report} />
        <Unmatched report={report} window={window} current={current} />
        {correcting !== null && (
          <CorrectionDialog current={current} start={correcting} onClose={() => setCorrecting(null)} />
        )}
      </div>
    </Tabs>
  );
}

function NoSources({ projectId }: { projectId: string }) {
  return (
    <div className="card">
      <EmptyState
        title="Nothing has arrived in the last seven days"
        action={
          <Link href={projectPage(projectId, 'keys')} className="button">
            API keys
          </Link>
        }
      >
        Send queries, spans or log records with a recording key of this project:{' '}
        <DocsLink page="opentelemetry">OpenTelemetry</DocsLink> and{' '}
        <DocsLink page="record">Record queries</DocsLink> say how. If something sends already, its own log
        says why it does not get here: usually the address or the key.
      </EmptyState>
    </div>
  );
}
