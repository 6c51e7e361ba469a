/** Selects the day on which weeks begin, and remembers it for this person. */
import type { View } from '../../../navigation/view.js';
import { remember } from '../../../preferences/local-storage.js';
import { findKey, keysOf, WEEK_START_NAMES } from '../../../time/names.js';

interface WeekStartSelectProps {
  readonly view: View;
  readonly setView: (change: Partial<View>) => void;
}

export function WeekStartSelect({ view, setView }: WeekStartSelectProps) {
  return (
    <label className="ranges-field">
      Weeks begin on
      <select
        className="input"
        value={view.weekStart}
        onChange={(event) => {
          const weekStart = findKey(WEEK_START_NAMES, event.target.value) ?? view.weekStart;
          remember('weekStart', weekStart);
          setView({ weekStart });
        }}
      >
        {keysOf(WEEK_START_NAMES).map((one) => (
          <option key={one} value={one}>
            {WEEK_START_NAMES[one]}
          </option>
        ))}
      </select>
    </label>
  );
}
