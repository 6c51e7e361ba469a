/**
 * A table; without room for its columns, its rows become cards. Explicit roles, because the card layout would lose the
 * implicit ones.
 */
import { ArrowDown, ArrowUp } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import './table.css';

export interface Column<T> {
  readonly head: string;
  readonly cell: (row: T) => ReactNode;
  /** `name`: the row header. `number`: aligned right. `actions`: the heading is visually hidden. */
  readonly kind?: 'name' | 'number' | 'actions';
  /** Lets users sort by these values: names from the first, all others from the last or largest. */
  readonly sortValue?: (row: T) => number | string;
}

interface Sort {
  /** The head of the column. */
  readonly column: string;
  readonly isAscending: boolean;
}

interface TableProps<T> {
  /** The accessible name of the table. */
  readonly caption: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly rowKey: (row: T) => string | number;
  /** How many rows are shown; all of them unless given. */
  readonly rowsMax?: number | undefined;
  readonly isMuted?: (row: T) => boolean;
  /** Also shows the caption above the table. */
  readonly isCaptionSeen?: boolean;
  /** Also has columns on a narrow screen: for short values that readers compare. */
  readonly keepsColumns?: boolean;
  /** The order of the rows before users sort them, if it is one of the columns'. */
  readonly sorted?: Sort;
}

export function Table<T>(props: TableProps<T>) {
  const { caption, columns, rows, rowKey, rowsMax, isMuted, isCaptionSeen = false, keepsColumns } = props;
  const [sort, setSort] = useState<Sort | null>(props.sorted ?? null);
  const sortValue = columns.find(({ head }) => head === sort?.column)?.sortValue;
  const sorted =
    sort === null || sortValue === undefined ? rows : sortRows(rows, sortValue, sort.isAscending);
  const sorts = columns.some((column) => column.sortValue !== undefined) ? ' table-sorts' : '';
  const kind = keepsColumns === true ? 'table-columns' : `table-cards${sorts}`;
  return (
    <table className={`table ${kind}`} role="table">
      <caption className={isCaptionSeen ? '' : 'out-of-sight'}>{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map((column) => (
            <Head key={column.head} column={column} sort={sort} onSort={setSort} />
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {sorted.slice(0, rowsMax).map((row) => (
          <tr key={rowKey(row)} role="row" className={isMuted?.(row) === true ? 'table-muted' : undefined}>
            {columns.map((column) => (
              <Cell key={column.head} column={column} row={row} />
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface HeadProps<T> {
  readonly column: Column<T>;
  readonly sort: Sort | null;
  readonly onSort: (sort: Sort) => void;
}

function Head<T>({ column: { head, kind, sortValue }, sort, onSort }: HeadProps<T>) {
  const own = sort?.column === head ? sort : null;
  const Icon = own?.isAscending === true ? ArrowUp : ArrowDown;
  const isAscending = own === null ? kind === 'name' : !own.isAscending;
  return (
    <th
      scope="col"
      role="columnheader"
      className={cellClass(kind)}
      aria-sort={own === null ? undefined : own.isAscending ? 'ascending' : 'descending'}
    >
      {sortValue === undefined ? (
        <span className={kind === 'actions' ? 'out-of-sight' : ''}>{head}</span>
      ) : (
        <button type="button" className="sort" onClick={() => onSort({ column: head, isAscending })}>
          {head}
          {own !== null && <Icon aria-hidden />}
        </button>
      )}
    </th>
  );
}

function Cell<T>({ column: { head, kind, cell }, row }: { column: Column<T>; row: T }) {
  if (kind === 'name')
    return (
      <th scope="row" role="rowheader">
        {cell(row)}
      </th>
    );
  return (
    <td role="cell" className={cellClass(kind)} data-label={kind === 'actions' ? undefined : head}>
      {cell(row)}
    </td>
  );
}

function cellClass(kind: Column<never>['kind']): string | undefined {
  return kind === 'number' || kind === 'actions' ? `table-${kind}` : undefined;
}

/** The rows in the order of a column's values; equal ones keep their order. */
function sortRows<T>(
  rows: readonly T[],
  value: (row: T) => number | string,
  isAscending: boolean,
): readonly T[] {
  const sign = isAscending ? 1 : -1;
  return rows.toSorted((one, other) => {
    const [a, b] = [value(one), value(other)];
    return a < b ? -sign : a > b ? sign : 0;
  });
}
