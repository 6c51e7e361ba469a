/** Selects the range: a period, or custom ends. And the day on which weeks begin. */
import { Calendar, ChevronDown } from 'lucide-react';
import { usePopover } from '../../../components/overlays/use-popover.js';
import { choiceName, rangeName } from '../../../format/dates.js';
import { useShortcut } from '../../../layout/use-shortcuts.js';
import { lazyPart } from '../../../navigation/lazy-code.js';
import type { View } from '../../../navigation/view.js';
import type { Choice } from '../../../time/choice.js';
import { keysOf, PERIOD_NAMES } from '../../../time/names.js';
import type { Reading } from '../use-reading.js';
import '../../../components/overlays/popover.css';
import './range-picker.css';

const CustomRange = lazyPart(() => import('./custom-range.js'), 'CustomRange');
const WeekStartSelect = lazyPart(() => import('./week-start.js'), 'WeekStartSelect');

interface RangePickerProps {
  readonly view: View;
  readonly setView: (change: Partial<View>) => void;
  readonly reading: Reading;
}

export function RangePicker({ view, setView, reading }: RangePickerProps) {
  const { choice } = view;
  const popover = usePopover({
    focus: (panel) =>
      panel.querySelector<HTMLElement>('[aria-pressed="true"]') ?? panel.querySelector('button'),
  });
  useShortcut('range', popover.open);

  const choose = (chosen: Choice): void => {
    popover.close();
    // Reset the interval, which may not suit the new range.
    setView({ choice: chosen, interval: null });
  };
  return (
    <>
      <button {...popover.triggerProps} type="button" className="toolbar-button toolbar-range">
        <Calendar aria-hidden />
        <span className="out-of-sight">Range: </span>
        <span className="toolbar-name">{choiceName(choice)}</span>
        {'period' in choice && <Dates reading={reading} />}
        <ChevronDown aria-hidden />
      </button>
      <div {...popover.panelProps} className="popover ranges" role="dialog" aria-label="Range">
        {popover.isOpen && (
          <>
            <ul className="ranges-periods">
              {keysOf(PERIOD_NAMES).map((period) => (
                <li key={period}>
                  <button
                    type="button"
                    className="menu-item"
                    aria-pressed={'period' in choice && choice.period === period}
                    onClick={() => choose({ period })}
                  >
                    {PERIOD_NAMES[period]}
                  </button>
                </li>
              ))}
            </ul>
            <div className="ranges-more">
              <CustomRange view={view} numbers={reading.numbers} onChoose={choose} />
              <WeekStartSelect view={view} setView={setView} />
            </div>
          </>
        )}
      </div>
    </>
  );
}

/** The current dates of a period. */
function Dates({ reading: { numbers, isStale } }: { reading: Reading }) {
  const { dateFrom = null, dateTo = null } = numbers?.range ?? {};
  if (dateFrom === null || dateTo === null || isStale) return null;
  return <span className="toolbar-dates numbers">{rangeName({ dateFrom, dateTo })}</span>;
}
