/**
 * A table; on a narrow screen its rows become cards. Explicit roles, because the card layout would lose the implicit
 * ones.
 */
import type { ReactNode } from 'react';
import './table.css';

export interface Column<T> {
  readonly head: string;
  readonly cell: (row: T) => ReactNode;
  /** `name`: the row header. `number`: aligned right. `actions`: the heading is visually hidden. */
  readonly kind?: 'name' | 'number' | 'actions';
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
}

export function Table<T>({ caption, columns, rows, rowKey, isMuted, isCaptionSeen = false }: TableProps<T>) {
  return (
    <table className="table table-cards" role="table">
      <caption className={isCaptionSeen ? '' : 'out-of-sight'}>{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map((column) => (
            <th key={column.head} scope="col" role="columnheader" className={cellClass(column)}>
              <span className={column.kind === 'actions' ? 'out-of-sight' : ''}>{column.head}</span>
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
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
