/** The chart as a table: newest first, until users sort it. */

import { CALLER_TYPE_NAMES, CALLER_TYPES } from '../../../../../src/domain/queries/caller.js';
import type { Interval } from '../../../api/types.js';
import type { Bar } from '../../../chart/layout.js';
import { type Column, Table } from '../../../components/content/table.js';
import { Badge } from '../../../components/feedback/badge.js';
import { bucketTitle, incompleteNote } from '../../../format/dates.js';
import { count } from '../../../format/numbers.js';
import type { Numbers } from '../use-numbers.js';

interface Row {
  readonly bar: Bar;
  readonly before: Bar | undefined;
}

function When({ bar, interval, zone }: { bar: Bar; interval: Interval; zone: string }) {
  const note = incompleteNote(bar, zone);
  return (
    <>
      {bucketTitle(bar, interval, zone)} {note !== null && <Badge>{note}</Badge>}
    </>
  );
}

interface TimeTableProps {
  readonly numbers: Numbers;
  readonly zone: string;
  readonly title: string;
}

export function TimeTable({ numbers: { bars, before, interval, compared }, zone, title }: TimeTableProps) {
  const rows = bars.map((bar, index) => ({ bar, before: before.bars?.[index] }));
  const columns: Column<Row>[] = [
    {
      head: 'When',
      kind: 'name',
      sortValue: ({ bar }) => bar.start,
      cell: ({ bar }) => <When bar={bar} interval={interval} zone={zone} />,
    },
    ...CALLER_TYPES.map(
      (type): Column<Row> => ({
        head: CALLER_TYPE_NAMES[type],
        kind: 'number',
        cell: ({ bar }) => count(bar[type]),
        sortValue: ({ bar }) => bar[type],
      }),
    ),
    {
      head: 'Total',
      kind: 'number',
      cell: ({ bar }) => count(bar.total),
      sortValue: ({ bar }) => bar.total,
    },
  ];
  const previous: Column<Row> = {
    head: `Total, ${compared?.name ?? ''}`,
    kind: 'number',
    cell: (row) => (row.before === undefined ? '–' : count(row.before.total)),
    sortValue: (row) => row.before?.total ?? -1,
  };
  return (
    <div className="time-table" tabIndex={0} role="region" aria-label={`${title}, as a table`}>
      <Table
        caption={`${title}, times in ${zone}`}
        columns={before.bars === null ? columns : [...columns, previous]}
        rows={rows.toReversed()}
        keepsColumns
        sorted={{ column: 'When', isAscending: false }}
        rowKey={({ bar }) => bar.start}
      />
    </div>
  );
}
