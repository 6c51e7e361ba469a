/** All callers of the range: sortable, each with its trend. A click on one shows the numbers of that caller alone. */
import { PencilLine } from 'lucide-react';
import { useState } from 'react';
import { CALLER_TYPE_NAMES, CALLER_TYPES } from '../../../../../src/domain/queries/caller.js';
import type { Numbers } from '../../../api/types.js';
import { Sparkline } from '../../../chart/sparkline.js';
import { type Column, Table } from '../../../components/content/table.js';
import { EmptyState } from '../../../components/feedback/empty-state.js';
import { Button } from '../../../components/forms/button.js';
import { count, share } from '../../../format/numbers.js';
import './callers-card.css';

/** Rows shown before "show all". */
const firstRows = 8;

type Caller = Numbers['callers'][number];

interface CallersCardProps {
  readonly numbers: Numbers;
  readonly trends: ReadonlyMap<string, readonly number[]> | undefined;
  /** The only caller that the page counts; null for all. */
  readonly selected: string | null;
  readonly onSelect: (caller: string | null) => void;
  readonly onCorrect: (() => void) | undefined;
}

export function CallersCard({ numbers, trends, selected, onSelect, onCorrect }: CallersCardProps) {
  const { buckets, callers, callersRest, callersTotal, othersTotal } = numbers;
  const [isWhole, setWhole] = useState(false);
  const most = Math.max(1, ...callers.map((one) => one.count));
  const columns: Column<Caller>[] = [
    {
      head: 'Caller',
      kind: 'name',
      sortValue: ({ caller }) => caller,
      cell: (one) => (
        <>
          <Bar type={one.type} part={one.count} whole={most} />
          <button
            type="button"
            className="callers-name"
            aria-pressed={one.caller === selected}
            onClick={() => onSelect(one.caller === selected ? null : one.caller)}
          >
            {one.caller}
          </button>
        </>
      ),
    },
    {
      head: 'Type',
      sortValue: ({ type }) => -CALLER_TYPES.indexOf(type),
      cell: ({ type }) => CALLER_TYPE_NAMES[type],
    },
    {
      head: 'Trend',
      // A bucket that still runs, or that the range cuts, would look like a drop.
      cell: ({ caller, type }) => (
        <Sparkline
          values={trends?.get(caller)?.filter((_, at) => buckets[at]?.incomplete === undefined)}
          type={type}
        />
      ),
    },
    { head: 'Queries', kind: 'number', sortValue: (one) => one.count, cell: (one) => count(one.count) },
    { head: 'Share', kind: 'number', cell: (one) => share(one.count, callersTotal) },
    {
      head: 'Of other',
      kind: 'number',
      cell: (one) => (one.type === 'other' ? share(one.count, othersTotal) : ''),
    },
  ];
  return (
    <section className="card callers" aria-label="Callers">
      <div className="card-head">
        <h2>Callers</h2>
        {onCorrect !== undefined && (
          <Button kind="quiet" icon={PencilLine} onClick={onCorrect}>
            {selected === null ? 'Correct…' : `Correct ${selected}…`}
          </Button>
        )}
      </div>
      {callers.length === 0 ? (
        <EmptyState title="No callers in this range">
          Queries appear here by their caller: <code>web</code>, <code>api</code>, or the name of an
          integration or SDK such as <code>slack</code>.
        </EmptyState>
      ) : (
        <Table
          caption="Callers"
          columns={columns}
          rows={callers}
          rowKey={({ caller }) => caller}
          rowsMax={isWhole ? undefined : firstRows}
          keepsColumns
          sorted={{ column: 'Queries', isAscending: false }}
        />
      )}
      {callersRest && (
        <p className="quiet callers-rest">
          {count(callersRest.callers)} other callers have {count(callersRest.count)} queries together. The CSV
          names all of them.
        </p>
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
