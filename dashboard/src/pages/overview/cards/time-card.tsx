/** Queries over time, as a chart or as a table. */

import { ChartColumnStacked, Table2 } from 'lucide-react';
import { CALLER_TYPE_NAMES, CALLER_TYPES } from '../../../../../src/domain/queries/caller.js';
import type { CallerType } from '../../../api/types.js';
import { Chart } from '../../../chart/chart.js';
import { EmptyState } from '../../../components/feedback/empty-state.js';
import { Skeleton } from '../../../components/feedback/skeleton.js';
import { Button } from '../../../components/forms/button.js';
import { chartTitle } from '../../../format/intervals.js';
import { lazyPart } from '../../../navigation/lazy-code.js';
import type { View } from '../../../navigation/view.js';
import { toLocal } from '../../../time/zone.js';
import type { Numbers } from '../use-numbers.js';

const TimeTable = lazyPart(() => import('./time-table.js'), 'TimeTable', <Skeleton shape="chart" />);

interface TimeCardProps {
  readonly view: View;
  readonly setView: (change: Partial<View>) => void;
  readonly numbers: Numbers;
}

export function TimeCard({ view, setView, numbers }: TimeCardProps) {
  const { bars, before, interval } = numbers;
  const title = chartTitle(interval);
  return (
    <section className="card time-card" aria-label={title}>
      <div className="card-head">
        <h2>{title}</h2>
        <Legend
          view={view}
          setView={setView}
          compared={before.bars === null ? null : numbers.compared}
          hasIncomplete={!view.table && bars.some(({ incomplete }) => incomplete !== undefined)}
        />
        <Button
          kind="quiet"
          icon={view.table ? ChartColumnStacked : Table2}
          title={view.table ? 'Show as chart' : 'Show as table'}
          onClick={() => setView({ table: !view.table })}
        >
          <span className="card-head-label">{view.table ? 'Show as chart' : 'Show as table'}</span>
        </Button>
      </div>
      {view.table ? (
        <TimeTable numbers={numbers} zone={view.zone} title={title} />
      ) : (
        <div className="time-card-chart">
          <Bars view={view} setView={setView} numbers={numbers} title={title} />
          {bars.length > 0 && numbers.reading?.counts.total === 0 && (
            <div className="time-card-none">
              <p>No queries in this range</p>
              <Button onClick={() => setView({ choice: { preset: 'all' }, interval: null })}>
                Show everything
              </Button>
            </div>
          )}
        </div>
      )}
    </section>
  );
}

function Bars({ view, setView, numbers, title }: TimeCardProps & { title: string }) {
  const { bars, before, interval } = numbers;
  if (bars.length === 0) return <EmptyState title="No queries in this range" />;
  const types = CALLER_TYPES.filter((type) => !view.hidden.includes(type));
  const look =
    interval === 'hour'
      ? {}
      : { onPick: (bar: { start: number; end: number }) => setView(closer(bar, view.zone)) };
  return (
    <Chart
      label={title}
      bars={bars}
      before={before.bars}
      types={types}
      interval={interval}
      zone={view.zone}
      {...look}
    />
  );
}

/** The days of one bar as a range. */
function closer({ start, end }: { start: number; end: number }, zone: string): Partial<View> {
  return {
    choice: { from: toLocal(start, zone).day, to: toLocal(end - 1, zone).day },
    interval: null,
  };
}

interface LegendProps {
  readonly view: View;
  readonly setView: (change: Partial<View>) => void;
  /** The range of the line in the chart. */
  readonly compared: Numbers['compared'];
  /** Whether there are bars that look different because they are not complete. */
  readonly hasIncomplete: boolean;
}

/** The legend; each entry hides or shows its type. */
function Legend({ view, setView, compared, hasIncomplete }: LegendProps) {
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
      {compared !== null && (
        <span className="legend-mark">
          <span className="swatch swatch-before" aria-hidden />
          {compared.name}
        </span>
      )}
    </fieldset>
  );
}
