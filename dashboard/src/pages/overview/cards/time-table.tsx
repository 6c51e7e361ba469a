/** The chart as a table: newest first, until users sort it. */
import { CALLER_TYPE_NAMES, CALLER_TYPES } from '../../../../../src/domain/queries/caller.js';
import type { Bucket, Interval, Numbers } from '../../../api/types.js';
import { ChangeNote } from '../../../components/content/change.js';
import { type Column, Table } from '../../../components/content/table.js';
import { Badge } from '../../../components/feedback/badge.js';
import { bucketTitle, incompleteNote, rangeName } from '../../../format/dates.js';
import { count } from '../../../format/numbers.js';
import type { View } from '../../../navigation/view.js';

interface TimeTableProps {
  readonly numbers: Numbers;
  readonly view: View;
  readonly title: string;
}

export function TimeTable({ numbers, view, title }: TimeTableProps) {
  const { buckets, interval, previous, recordingBegan } = numbers;
  const number = (head: string, of: (bucket: Bucket) => number | undefined): Column<Bucket> => ({
    head,
    kind: 'number',
    cell: (bucket) => {
      const value = of(bucket);
      return value === undefined ? '–' : count(value);
    },
    sortValue: (bucket) => of(bucket) ?? -1,
  });
  const columns: Column<Bucket>[] = [
    {
      head: 'When',
      kind: 'name',
      sortValue: ({ start }) => Date.parse(start),
      cell: (bucket) => <When bucket={bucket} interval={interval} />,
    },
    ...CALLER_TYPES.map((type) => number(CALLER_TYPE_NAMES[type], (bucket) => bucket[type])),
    number('Total', ({ total }) => total),
  ];
  if (view.compare !== null && previous !== null)
    columns.push(
      number(`Total, ${rangeName(previous)}`, (bucket) => bucket.previous?.total),
      {
        head: 'Change',
        kind: 'number',
        cell: (bucket) => <BucketChange bucket={bucket} recordingBegan={recordingBegan} />,
      },
    );
  return (
    <section className="time-table" tabIndex={0} aria-label={`${title}, as a table`}>
      <Table
        caption={`${title}, times in ${view.zone}`}
        columns={columns}
        rows={buckets.toReversed()}
        keepsColumns
        sorted={{ column: 'When', isAscending: false }}
        rowKey={({ start }) => start}
      />
    </section>
  );
}

function BucketChange({
  bucket: { total, previous },
  recordingBegan,
}: { bucket: Bucket } & Pick<Numbers, 'recordingBegan'>) {
  if (!previous) return '–';
  const range = { dateFrom: previous.start, dateTo: previous.end };
  return (
    <ChangeNote
      now={total}
      before={previous.total}
      range={range}
      recordingBegan={recordingBegan}
      isNamed={false}
    />
  );
}

function When({ bucket, interval }: { bucket: Bucket; interval: Interval }) {
  const note = incompleteNote(bucket);
  return (
    <>
      {bucketTitle(bucket, interval)} {note !== null && <Badge>{note}</Badge>}
    </>
  );
}
