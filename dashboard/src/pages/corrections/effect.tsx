/** What a correction changes, in figures. */
import { CALLER_TYPE_NAMES, CALLER_TYPES } from '../../../../src/domain/queries/caller.js';
import type { Correction } from '../../api/types.js';
import { type Column, Table } from '../../components/content/table.js';
import { moment } from '../../format/dates.js';
import { count } from '../../format/numbers.js';
import { queriesInWords } from './words.js';

/** More are only counted. */
const callersShown = 8;

interface Row {
  readonly caller: string;
  readonly count: number;
}

export function Effect({ effect: { action, to, queries, callers, first, last } }: { effect: Correction }) {
  if (first === null || last === null)
    return (
      <p>
        {action === 'undo'
          ? 'It changes no count: what it takes back was changed again.'
          : 'No query that counts matches.'}
      </p>
    );
  const shown = callers.slice(0, callersShown);
  const rest = queries.total - shown.reduce((sum, one) => sum + one.count, 0);
  const rows: Row[] =
    rest === 0
      ? [...shown]
      : [...shown, { caller: `${count(callers.length - shown.length)} others`, count: rest }];
  const columns: Column<Row>[] = [
    { head: 'Caller', kind: 'name', cell: ({ caller }) => caller },
    { head: 'Queries', kind: 'number', cell: (row) => count(row.count) },
  ];
  return (
    <>
      <p>
        <strong>{queriesInWords(queries.total)}</strong>{' '}
        {
          {
            withdraw: 'would count nowhere any more',
            rename: `would count for ${to}`,
            undo: 'would count as before',
          }[action]
        }
        : {CALLER_TYPES.map((type) => `${CALLER_TYPE_NAMES[type]} ${count(queries[type])}`).join(', ')}.{' '}
        {first === last
          ? `${queries.total === 1 ? 'It' : 'They'} occurred on ${moment(first)}.`
          : `The first occurred on ${moment(first)}, the last on ${moment(last)}.`}
      </p>
      <Table caption="By caller" columns={columns} rows={rows} rowKey={({ caller }) => caller} keepsColumns />
    </>
  );
}
