/** Queries over time, as a chart or as a table. */
import { ChartColumnStacked, Table2 } from 'lucide-react';
import { CALLER_TYPE_NAMES, CALLER_TYPES } from '../../../../../src/domain/queries/caller.js';
import type { CountsRef } from '../../../api/paths.js';
import type { CallerType, Numbers } from '../../../api/types.js';
import { Chart } from '../../../chart/chart.js';
import type { Note } from '../../../chart/notes.js';
import { EmptyState } from '../../../components/feedback/empty-state.js';
import { Skeleton } from '../../../components/feedback/skeleton.js';
import { Button } from '../../../components/forms/button.js';
import { rangeName } from '../../../format/dates.js';
import { lazyPart } from '../../../navigation/lazy-code.js';
import type { View } from '../../../navigation/view.js';
import { daysOf } from '../../../time/local.js';

const WeekCells = lazyPart(() => import('./week-cells.js'), 'WeekCells', <Skeleton shape="chart" />);
const TimeTable = lazyPart(() => import('./time-table.js'), 'TimeTable', <Skeleton shape="chart" />);

interface TimeCardProps {
  readonly view: View;
  readonly setView: (change: Partial<View>) => void;
  readonly numbers: Numbers;
}

interface WholeProps extends TimeCardProps {
  readonly counts: CountsRef;
  readonly notes: readonly Note[];
}

export function TimeCard({ counts, view, setView, numbers, notes }: WholeProps) {
  const title = view.week ? 'Week by hour' : `Queries per ${numbers.interval}`;
  const as = view.table ? 'Show as chart' : 'Show as table';
  return (
    <section className="card time-card" aria-label={title}>
      <div className="card-head">
        <h2>{title}</h2>
        <Legend view={view} setView={setView} numbers={numbers} />
        <Button
          kind="quiet"
          icon={view.table ? ChartColumnStacked : Table2}
          title={as}
          onClick={() => setView({ table: !view.table })}
        >
          <span className="card-head-label">{as}</span>
        </Button>
      </div>
      {view.week ? (
        <WeekCells counts={counts} view={view} setView={setView} title={title} />
      ) : view.table ? (
        <TimeTable numbers={numbers} view={view} title={title} />
      ) : (
        <TimeChart view={view} setView={setView} numbers={numbers} notes={notes} title={title} />
      )}
    </section>
  );
}

interface TimeChartProps extends TimeCardProps {
  readonly notes: readonly Note[];
  readonly title: string;
}

function TimeChart({ view, setView, numbers, notes, title }: TimeChartProps) {
  const { buckets, interval, counts } = numbers;
  const nothing = `No queries ${view.caller === null ? '' : `from ${view.caller} `}in this range`;
  return (
    <div className="time-card-chart">
      {buckets.length === 0 ? (
        <EmptyState title={nothing} />
      ) : (
        <Chart
          label={title}
          notes={notes}
          bars={buckets}
          isCompared={view.compare !== null}
          types={CALLER_TYPES.filter((type) => !view.hidden.includes(type))}
          interval={interval}
          onPick={interval === 'hour' ? undefined : (bar) => setView({ choice: daysOf(bar), interval: null })}
        />
      )}
      {buckets.length > 0 && counts.total === 0 && (
        <div className="time-card-none">
          <p>{nothing}</p>
          <Button onClick={() => setView({ choice: { period: 'all' }, interval: null })}>
            Show everything
          </Button>
        </div>
      )}
    </div>
  );
}

/** The legend; each entry hides or shows its type. */
function Legend({ view, setView, numbers: { buckets, previous } }: TimeCardProps) {
  const hasIncomplete =
    !view.table && !view.week && buckets.some(({ incomplete }) => incomplete !== undefined);
  const toggle = (type: CallerType): void => {
    const isHidden = view.hidden.includes(type);
    const hidden = isHidden ? view.hidden.filter((one) => one !== type) : [...view.hidden, type];
    // At least one type stays visible.
    setView({ hidden: hidden.length === CALLER_TYPES.length ? [] : hidden });
  };
  return (
    <fieldset className="legend">
      <legend className="out-of-sight">Types in the chart</legend>
      {CALLER_TYPES.map((type) => (
        <button
          key={type}
          type="button"
          className="legend-type"
          aria-pressed={!view.hidden.includes(type)}
          onClick={() => toggle(type)}
        >
          <span className={`swatch type-${type}`} aria-hidden />
          {CALLER_TYPE_NAMES[type]}
        </button>
      ))}
      {hasIncomplete && (
        <span className="legend-mark">
          <span className="swatch swatch-incomplete" aria-hidden />
          Incomplete
        </span>
      )}
      {view.compare !== null && previous !== null && !view.week && (
        <span className="legend-mark">
          <span className="swatch swatch-before" aria-hidden />
          {rangeName(previous)}
        </span>
      )}
    </fieldset>
  );
}
