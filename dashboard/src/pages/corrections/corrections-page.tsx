/** What was corrected in a project: why, by whom, and how to take it back. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { PencilLine } from 'lucide-react';
import { useState } from 'react';
import { roleAllows } from '../../../../src/domain/people/member.js';
import { correctionsQuery } from '../../api/corrections.js';
import type { Correction } from '../../api/types.js';
import { DocsLink } from '../../components/content/docs-link.js';
import { Page } from '../../components/content/page.js';
import { type Column, Table } from '../../components/content/table.js';
import { Time } from '../../components/content/time.js';
import { Badge } from '../../components/feedback/badge.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { Loaded } from '../../components/feedback/loaded.js';
import { Button } from '../../components/forms/button.js';
import { count } from '../../format/numbers.js';
import type { CurrentProject } from '../../navigation/current-project.js';
import { lazyPart } from '../../navigation/lazy-code.js';
import type { CorrectionStart } from './correction-dialog.js';
import { type Senders, useSenders } from './senders.js';
import { conditionsOf, titleOf } from './words.js';
import './corrections.css';

const CorrectionDialog = lazyPart(() => import('./correction-dialog.js'), 'CorrectionDialog');

export function CorrectionsPage(current: CurrentProject) {
  const { organization, project } = current;
  const [start, setStart] = useState<CorrectionStart | null>(null);
  const query = useInfiniteQuery(
    correctionsQuery({ organizationId: organization.id, projectId: project.id }),
  );
  const senders = useSenders(current);
  const isEditor = roleAllows(organization.role, 'editor');
  return (
    <Page
      title="Corrections"
      of={project.name}
      lead={
        <>
          What was recorded and should count differently, newest first. Each correction can be undone:{' '}
          <DocsLink page="corrections">how corrections work</DocsLink>.
        </>
      }
      actions={
        isEditor && (
          <Button kind="primary" icon={PencilLine} onClick={() => setStart({})}>
            Correct…
          </Button>
        )
      }
    >
      <Loaded query={query} what="The corrections" rows={4}>
        {({ pages }) => (
          <CorrectionsTable
            corrections={pages.flatMap(({ corrections }) => corrections)}
            senders={senders}
            onUndo={isEditor ? (undo) => setStart({ undo }) : undefined}
          />
        )}
      </Loaded>
      {query.hasNextPage && (
        <div className="row">
          <Button busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            Load more
          </Button>
        </div>
      )}
      {start !== null && <CorrectionDialog current={current} start={start} onClose={() => setStart(null)} />}
    </Page>
  );
}

interface CorrectionsTableProps {
  readonly corrections: readonly Correction[];
  readonly senders: Senders | undefined;
  readonly onUndo: ((correction: Correction) => void) | undefined;
}

function CorrectionsTable({ corrections, senders, onUndo }: CorrectionsTableProps) {
  const columns: Column<Correction>[] = [
    { head: 'What', kind: 'name', cell: (one) => <What correction={one} senders={senders} /> },
    { head: 'Queries', kind: 'number', cell: ({ queries }) => count(queries.total) },
    { head: 'State', cell: (one) => <State correction={one} /> },
    { head: 'Who', cell: ({ createdBy }) => senders?.get(createdBy ?? '') ?? createdBy },
    { head: 'When', cell: ({ createdAt }) => createdAt !== null && <Time at={createdAt} /> },
  ];
  if (onUndo !== undefined)
    columns.push({
      head: 'Actions',
      kind: 'actions',
      cell: (one) =>
        isUndoable(one) && (
          <Button aria-label={`Undo ${titleOf(one)}…`} onClick={() => onUndo(one)}>
            Undo…
          </Button>
        ),
    });
  return (
    <div className="card corrections">
      {corrections.length === 0 ? (
        <EmptyState title="No corrections yet">
          Tests that count, a caller with a wrong name, a clock in 1970: withdraw or rename what was recorded.
        </EmptyState>
      ) : (
        <Table
          caption="Corrections"
          columns={columns}
          rows={corrections}
          rowKey={({ id }) => id}
          isMuted={({ undoneBy }) => undoneBy !== null}
        />
      )}
    </div>
  );
}

function isUndoable({ action, state, undoneBy }: Correction): boolean {
  return action !== 'undo' && state === 'done' && undoneBy === null;
}

function What({ correction, senders }: { correction: Correction; senders: Senders | undefined }) {
  const conditions = conditionsOf(correction, senders);
  return (
    <span className="corrections-what">
      <span className="corrections-title">{titleOf(correction)}</span>
      <span>{correction.reason}</span>
      {conditions !== '' && <span className="check-hint">{conditions}</span>}
      <code className="quiet small">{correction.id}</code>
    </span>
  );
}

function State({ correction: { state, undoneBy } }: { correction: Correction }) {
  if (undoneBy !== null) return <Badge>Undone</Badge>;
  return state === 'running' ? <Badge kind="accent">Running</Badge> : <Badge kind="good">Done</Badge>;
}
