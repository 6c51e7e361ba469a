/** Range, zone, interval and caller of the overview. */
import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { INTERVAL_NAMES } from '../../../format/intervals.js';
import { useShortcut } from '../../../layout/use-shortcuts.js';
import type { View } from '../../../navigation/view.js';
import { autoInterval, INTERVALS, isAllowed } from '../../../time/interval.js';
import { COMPARISONS, type Comparison } from '../../../time/range.js';
import type { Numbers } from '../use-numbers.js';
import { RangePicker } from './range-picker.js';
import { ZonePicker } from './zone-picker.js';

interface ToolbarProps {
  readonly view: View;
  readonly setView: (change: Partial<View>) => void;
  readonly numbers: Numbers;
}

/** `children` are at its end. */
export function Toolbar({ view, setView, numbers, children }: ToolbarProps & { children: ReactNode }) {
  useShortcut('compare', () => setView({ compare: view.compare === null ? 'previous' : null }));
  return (
    <div className="toolbar" role="group" aria-label="What is shown">
      <RangePicker view={view} setView={setView} range={numbers.range} />
      <IntervalSelect view={view} setView={setView} numbers={numbers} />
      <ZonePicker zone={view.zone} onChange={(zone) => setView({ zone })} />
      <Compare view={view} setView={setView} numbers={numbers} />
      {view.caller !== null && (
        <button
          type="button"
          className="toolbar-button toolbar-caller"
          onClick={() => setView({ caller: null })}
        >
          Caller: <strong>{view.caller}</strong>
          <X aria-hidden />
          <span className="out-of-sight">Show all callers</span>
        </button>
      )}
      <div className="toolbar-end">{children}</div>
    </div>
  );
}

const COMPARISON_NAMES: Readonly<Record<Comparison, string>> = {
  previous: 'previous period',
  'previous-year': 'same period last year',
};

function Compare({ view, setView, numbers }: ToolbarProps) {
  return (
    <>
      <label className="toolbar-check">
        <input
          type="checkbox"
          checked={view.compare !== null}
          disabled={numbers.compared === null}
          onChange={(event) => setView({ compare: event.target.checked ? 'previous' : null })}
        />
        Compare
      </label>
      {view.compare !== null && numbers.compared !== null && (
        <label className="toolbar-select">
          <span className="out-of-sight">Compare with</span>
          <select
            value={view.compare}
            onChange={(event) =>
              setView({ compare: COMPARISONS.find((one) => one === event.target.value) ?? 'previous' })
            }
          >
            {COMPARISONS.map((comparison) => (
              <option key={comparison} value={comparison}>
                {COMPARISON_NAMES[comparison]}
              </option>
            ))}
          </select>
        </label>
      )}
    </>
  );
}

function IntervalSelect({ view, setView, numbers }: ToolbarProps) {
  const automatic = view.interval === null ? numbers.interval : autoInterval(numbers.range);
  return (
    <label className="toolbar-select">
      <span className="out-of-sight">Interval</span>
      <select
        value={view.interval ?? 'auto'}
        onChange={(event) =>
          setView({ interval: INTERVALS.find((one) => one === event.target.value) ?? null })
        }
      >
        <option value="auto">Auto ({INTERVAL_NAMES[automatic].toLowerCase()})</option>
        {INTERVALS.map((interval) => (
          <option key={interval} value={interval} disabled={!isAllowed(interval, numbers.range)}>
            {INTERVAL_NAMES[interval]}
            {isAllowed(interval, numbers.range) ? '' : ' (range too long)'}
          </option>
        ))}
      </select>
    </label>
  );
}
