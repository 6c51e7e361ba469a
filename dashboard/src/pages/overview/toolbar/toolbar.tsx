/** Range, zone, interval and caller of the overview. */
import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { useShortcut } from '../../../layout/use-shortcuts.js';
import type { View } from '../../../navigation/view.js';
import { COMPARISON_NAMES, findKey, INTERVAL_NAMES, keysOf } from '../../../time/names.js';
import type { Reading } from '../use-reading.js';
import { RangePicker } from './range-picker.js';
import { ZonePicker } from './zone-picker.js';

interface ToolbarProps {
  readonly view: View;
  readonly setView: (change: Partial<View>) => void;
  readonly reading: Reading;
}

/** `children` are at its end. */
export function Toolbar({ view, setView, reading, children }: ToolbarProps & { children: ReactNode }) {
  useShortcut('compare', () => setView({ compare: view.compare === null ? 'previous' : null }));
  return (
    <div className="toolbar" role="group" aria-label="What is shown">
      <RangePicker view={view} setView={setView} reading={reading} />
      <IntervalSelect view={view} setView={setView} reading={reading} />
      <ZonePicker zone={view.zone} onChange={(zone) => setView({ zone })} />
      <Compare view={view} setView={setView} reading={reading} />
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

function Compare({ view, setView, reading: { numbers } }: ToolbarProps) {
  const isPossible = numbers === undefined || numbers.previous !== null;
  return (
    <>
      <label className="toolbar-check">
        <input
          type="checkbox"
          checked={view.compare !== null}
          disabled={!isPossible}
          onChange={(event) => setView({ compare: event.target.checked ? 'previous' : null })}
        />
        Compare
      </label>
      {view.compare !== null && isPossible && (
        <label className="toolbar-select toolbar-compare">
          <span className="out-of-sight">Compare with</span>
          <select
            value={view.compare}
            onChange={(event) => setView({ compare: findKey(COMPARISON_NAMES, event.target.value) ?? null })}
          >
            {keysOf(COMPARISON_NAMES).map((comparison) => (
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

function IntervalSelect({ view, setView, reading: { numbers } }: ToolbarProps) {
  const automatic = view.interval === null && numbers && INTERVAL_NAMES[numbers.interval].toLowerCase();
  return (
    <label className="toolbar-select">
      <span className="out-of-sight">Interval</span>
      <select
        value={view.week ? 'week-hours' : (view.interval ?? 'auto')}
        onChange={({ target: { value } }) =>
          setView({ interval: findKey(INTERVAL_NAMES, value) ?? null, week: value === 'week-hours' })
        }
      >
        <option value="auto">Auto{automatic ? ` (${automatic})` : ''}</option>
        {keysOf(INTERVAL_NAMES).map((interval) => {
          const isTooLong = numbers?.intervals.includes(interval) === false;
          return (
            <option key={interval} value={interval} disabled={isTooLong}>
              {INTERVAL_NAMES[interval]}
              {isTooLong && ' (range too long)'}
            </option>
          );
        })}
        <option value="week-hours">Week by hour</option>
      </select>
    </label>
  );
}
