/** All callers of the range: sortable, each with its trend. A click on one shows the numbers of that caller alone. */
import { useState } from 'react';
import { CALLER_TYPE_NAMES } from '../../../../../src/domain/queries/caller.js';
import type { Callers } from '../../../api/types.js';
import { Sparkline } from '../../../chart/sparkline.js';
import { type Sort, SortHead, sortRows } from '../../../components/content/sort-head.js';
import { EmptyState } from '../../../components/feedback/empty-state.js';
import { Button } from '../../../components/forms/button.js';
import { count, share } from '../../../format/numbers.js';
import './callers-card.css';

/** Rows shown before "show all". */
const firstRows = 8;

type Column = 'caller' | 'type' | 'count';
type Caller = Callers['callers'][number];

interface CallersCardProps {
  readonly callers: Callers;
  readonly trends: ReadonlyMap<string, readonly number[]> | undefined;
  /** The only caller that the page counts; null for all. */
  readonly selected: string | null;
  readonly onSelect: (caller: string | null) => void;
}

export function CallersCard({ callers: { callers, total }, trends, selected, onSelect }: CallersCardProps) {
  const [isWhole, setWhole] = useState(false);
  const [sort, setSort] = useState<Sort<Column>>({ column: 'count', isAscending: false });
  const most = Math.max(1, ...callers.map((one) => one.count));
  const sorted = sortRows(callers, (one) => one[sort.column], sort.isAscending);
  const shown = isWhole ? sorted : sorted.slice(0, firstRows);
  const head = { sort, onSort: setSort };
  return (
    <section className="card callers" aria-label="Callers">
      <div className="card-head">
        <h2>Callers</h2>
      </div>
      {callers.length === 0 ? (
        <EmptyState title="No callers in this range">
          Queries appear here by their caller: <code>web</code>, <code>api</code>, or the name of an
          integration or SDK such as <code>slack</code>.
        </EmptyState>
      ) : (
        <table className="callers-table">
          <caption className="out-of-sight">Callers</caption>
          <thead>
            <tr>
              <SortHead column="caller" name="Caller" beginsAscending {...head} />
              <SortHead column="type" name="Type" beginsAscending className="callers-type" {...head} />
              <th scope="col">Trend</th>
              <SortHead column="count" name="Queries" beginsAscending={false} {...head} />
              <th scope="col">Share</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((one) => (
              <tr key={one.caller} className={one.caller === selected ? 'callers-selected' : undefined}>
                <th scope="row">
                  <Bar type={one.type} part={one.count} whole={most} />
                  <button
                    type="button"
                    className="callers-name"
                    aria-pressed={one.caller === selected}
                    onClick={() => onSelect(one.caller === selected ? null : one.caller)}
                  >
                    {one.caller}
                  </button>
                </th>
                <td className="callers-type">{CALLER_TYPE_NAMES[one.type]}</td>
                <td className="callers-trend">
                  <Sparkline values={trends?.get(one.caller)} type={one.type} />
                </td>
                <td className="numbers">{count(one.count)}</td>
                <td className="numbers quiet">{share(one.count, total)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {callers.length > firstRows && (
        <div className="callers-more">
          <Button kind="quiet" onClick={() => setWhole(!isWhole)} aria-expanded={isWhole}>
            {isWhole ? 'Show fewer' : `Show all ${count(callers.length)}`}
          </Button>
        </div>
      )}
    </section>
  );
}

/** An SVG, because the Content-Security-Policy forbids inline styles. */
function Bar({ type, part, whole }: { type: Caller['type']; part: number; whole: number }) {
  return (
    <svg className="callers-bar" viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden>
      <rect width={Math.max(4, (part / whole) * 1000)} height="10" className={`bar type-${type}`} />
    </svg>
  );
}
