/** The sources of a project with their counts. */
import { PencilLine } from 'lucide-react';
import type { IngestionSource, IngestionWindow } from '../../api/types.js';
import { type Column, Table } from '../../components/content/table.js';
import { Time } from '../../components/content/time.js';
import { Badge } from '../../components/feedback/badge.js';
import { IconButton } from '../../components/forms/button.js';
import { count } from '../../format/numbers.js';

/** The counts of a source that the page shows. */
export type WindowField = 'lastHour' | 'lastDay';

const KINDS: Readonly<Record<IngestionSource['kind'], string>> = {
  traces: 'OpenTelemetry spans',
  logs: 'OpenTelemetry log records',
  queries: 'Queries, by the name of the key',
  import: 'Import',
};

const COLUMNS = [
  ['Arrived', 'arrived'],
  ['Recorded', 'recorded'],
  ['Duplicates', 'duplicates'],
  ['Rejected', 'rejected'],
  ['No rule', 'unmatched'],
] as const;

interface SourcesTableProps {
  readonly sources: readonly IngestionSource[];
  readonly window: WindowField;
  /** Returns what corrects what a source sent, if that is known. Undefined for those who may not correct. */
  readonly onCorrect: ((source: IngestionSource) => (() => void) | undefined) | undefined;
}

export function SourcesTable({ sources, window, onCorrect }: SourcesTableProps) {
  const columns: Column<IngestionSource>[] = [
    { head: 'Source', kind: 'name', cell: (source) => <Name source={source} window={source[window]} /> },
    { head: 'Last seen', cell: ({ lastSeenAt }) => <Time at={lastSeenAt} /> },
    ...COLUMNS.map(
      ([head, field]): Column<IngestionSource> => ({
        head,
        kind: 'number',
        cell: (source) => count(source[window][field]),
      }),
    ),
  ];
  if (onCorrect !== undefined)
    columns.push({
      head: 'Actions',
      kind: 'actions',
      cell: (source) => {
        const correct = onCorrect(source);
        return (
          correct && (
            <IconButton icon={PencilLine} label={`Correct what ${source.name} sent…`} onClick={correct} />
          )
        );
      },
    });
  return (
    <div className="card">
      <Table
        caption="Sources"
        columns={columns}
        rows={sources}
        rowKey={sourceId}
        isMuted={(source) => source[window].requests === 0}
      />
    </div>
  );
}

export function sourceId({ kind, name }: IngestionSource): string {
  return `${kind} ${name}`;
}

function Name({ source: { kind, name }, window }: { source: IngestionSource; window: IngestionWindow }) {
  return (
    <span className="source-name">
      <span>{name}</span>
      <span className="quiet small">{KINDS[kind]}</span>
      <Problem window={window} />
    </span>
  );
}

function Problem({ window: { arrived, refused, unmatched } }: { window: IngestionWindow }) {
  if (refused > 0)
    return (
      <Badge kind="danger">
        {refused === 1 ? '1 request refused' : `${count(refused)} requests refused`}
      </Badge>
    );
  return arrived > 0 && arrived === unmatched ? <Badge kind="warn">No rule matches</Badge> : null;
}
