/** The heading of a column that sorts its table. */
import { ArrowDown, ArrowUp } from 'lucide-react';
import './table.css';

export interface Sort<Column> {
  readonly column: Column;
  readonly isAscending: boolean;
}

interface SortHeadProps<Column> {
  readonly column: Column;
  readonly name: string;
  readonly sort: Sort<Column> | null;
  readonly onSort: (sort: Sort<Column>) => void;
  /** Whether the first click sorts upwards: names begin with the first, numbers with the largest. */
  readonly beginsAscending: boolean;
  readonly className?: string | undefined;
  /** For tables whose layout loses the implicit role. */
  readonly role?: 'columnheader';
}

export function SortHead<Column>(props: SortHeadProps<Column>) {
  const { column, name, sort, onSort, beginsAscending, className, role } = props;
  const own = sort?.column === column ? sort : null;
  const Icon = own?.isAscending === true ? ArrowUp : ArrowDown;
  const isAscending = own === null ? beginsAscending : !own.isAscending;
  return (
    <th
      scope="col"
      role={role}
      className={className}
      aria-sort={own === null ? undefined : own.isAscending ? 'ascending' : 'descending'}
    >
      <button type="button" className="sort" onClick={() => onSort({ column, isAscending })}>
        {name}
        {own !== null && <Icon aria-hidden />}
      </button>
    </th>
  );
}

/** The rows in the order of a column's values; equal ones keep their order. */
export function sortRows<T>(
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
