/** What arrived for a project lately, and what became of it. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { ingestionQuery } from '../../api/ingestion.js';
import type { Ingestion } from '../../api/types.js';
import { Page } from '../../components/content/page.js';
import { Tabs } from '../../components/content/tabs.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { Failure } from '../../components/feedback/notice.js';
import { LoadingRows } from '../../components/feedback/skeleton.js';
import { serverUrl } from '../../navigation/base-path.js';
import { type CurrentProject, projectPage } from '../../navigation/current-project.js';
import { SourcesTable } from './sources-table.js';
import { Unmatched } from './unmatched.js';
import './sources.css';

const WINDOWS = { 'Last hour': 'lastHour', 'Last day': 'lastDay' } as const;

type WindowName = keyof typeof WINDOWS;

const NAMES = Object.keys(WINDOWS) as WindowName[];

export function SourcesPage(current: CurrentProject) {
  return (
    <Page
      title="Sources"
      of={current.project.name}
      lead="Who sends to this project, and what becomes of it. Everything that arrives is in exactly one of the columns Recorded, Duplicates, Rejected and No rule."
    >
      <Sources {...current} />
    </Page>
  );
}

function Sources(current: CurrentProject) {
  const { organization, project } = current;
  const query = useQuery(ingestionQuery({ organizationId: organization.id, projectId: project.id }));
  if (query.data !== undefined)
    return query.data.sources.length === 0 ? (
      <NoSources projectId={project.id} />
    ) : (
      <Report report={query.data} current={current} />
    );
  if (query.error === null) return <LoadingRows what="Loading the sources" rows={4} />;
  return (
    <Failure error={query.error} what="The sources could not be read." onRetry={() => void query.refetch()} />
  );
}

function Report({ report, current }: { report: Ingestion; current: CurrentProject }) {
  const [name, setName] = useState<WindowName>('Last hour');
  const window = WINDOWS[name];
  return (
    <Tabs label="Time" tabs={NAMES} value={name} onChange={setName}>
      <div className="sources">
        <SourcesTable sources={report.sources} window={window} />
        <Unmatched report={report} window={window} current={current} />
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
        <a href={`${serverUrl()}/docs/opentelemetry`}>OpenTelemetry</a> and{' '}
        <a href={`${serverUrl()}/docs/record`}>Record queries</a> say how. If something sends already, its own
        log says why it does not get here: mostly the address or the key.
      </EmptyState>
    </div>
  );
}
