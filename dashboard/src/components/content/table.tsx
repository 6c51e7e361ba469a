/**
 * A table; without room for its columns, its rows become cards. Explicit roles, because the card layout would lose the
 * implicit ones.
 */
import { type ReactNode, useState } from 'react';
import { type Sort, SortHead, sortRows } from './sort-head.js';
import './table.css';

export interface Column<T> {
  readonly head: string;
  readonly cell: (row: T) => ReactNode;
  /** `name`: the row header. `number`: aligned right. `actions`: the heading is visually hidden. */
  readonly kind?: 'name' | 'number' | 'actions';
  /** Lets users sort by these values. */
  readonly sortValue?: (row: T) => number | string;
}

interface TableProps<T> {
  /** The accessible name of the table. */
  readonly caption: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly rowKey: (row: T) => string | number;
  readonly isMuted?: (row: T) => boolean;
  /** Also shows the caption above the table. */
  readonly isCaptionSeen?: boolean;
  /** Also has columns on a narrow screen: for short values that readers compare. */
  readonly keepsColumns?: boolean;
  /** The order of the rows before users sort them, if it is one of the columns'. */
  readonly sorted?: Sort<string>;
}

export function Table<T>({
  caption,
  columns,
  rows,
  rowKey,
  isMuted,
  isCaptionSeen = false,
  keepsColumns = false,
  sorted: initial,
}: TableProps<T>) {
  const [sort, setSort] = useState<Sort<string> | null>(initial ?? null);
  const sortValue = columns.find(({ head }) => head === sort?.column)?.sortValue;
  const sorted =
    sort === null || sortValue === undefined ? rows : sortRows(rows, sortValue, sort.isAscending);
  const sorts = columns.some((column) => column.sortValue !== undefined) ? ' table-sorts' : '';
  const kind = keepsColumns ? 'table-columns' : `table-cards${sorts}`;
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
        {sorted.map((row) => (
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
  readonly sort: Sort<string> | null;
  readonly onSort: (sort: Sort<string>) => void;
}

function Head<T>({ column, sort, onSort }: HeadProps<T>) {
  const className = cellClass(column);
  if (column.sortValue !== undefined) {
    return (
      <SortHead
        column={column.head}
        name={column.head}
        beginsAscending={column.kind === 'name'}
        role="columnheader"
        {...{ sort, onSort, className }}
      />
    );
  }
  return (
    <th scope="col" role="columnheader" className={className}>
      <span className={column.kind === 'actions' ? 'out-of-sight' : ''}>{column.head}</span>
    </th>
  );
}

function Cell<T>({ column, row }: { column: Column<T>; row: T }) {
  if (column.kind === 'name')
    return (
      <th scope="row" role="rowheader">
        {column.cell(row)}
      </th>
    );
  const label = column.kind === 'actions' ? undefined : column.head;
  return (
    <td role="cell" className={cellClass(column)} data-label={label}>
      {column.cell(row)}
    </td>
  );
}

function cellClass<T>({ kind }: Column<T>): string | undefined {
  return kind === 'number' || kind === 'actions' ? `table-${kind}` : undefined;
}
