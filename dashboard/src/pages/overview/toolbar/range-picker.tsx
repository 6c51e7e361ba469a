/** Selects the range: a preset, or custom ends. */
import { Calendar, ChevronDown } from 'lucide-react';
import { usePopover } from '../../../components/overlays/use-popover.js';
import { span } from '../../../format/dates.js';
import { useShortcut } from '../../../layout/use-shortcuts.js';
import { lazyPart } from '../../../navigation/lazy-code.js';
import type { View } from '../../../navigation/view.js';
import { type Choice, PRESETS, type Range } from '../../../time/range.js';
import { choiceName, PRESET_NAMES } from './choice-name.js';
import '../../../components/overlays/popover.css';
import './range-picker.css';

const CustomRange = lazyPart(() => import('./custom-range.js'), 'CustomRange');

interface RangePickerProps {
  readonly view: View;
  readonly setView: (change: Partial<View>) => void;
  readonly range: Range;
}

export function RangePicker({ view, setView, range }: RangePickerProps) {
  const popover = usePopover({
    focus: (panel) =>
      panel.querySelector<HTMLElement>('[aria-pressed="true"]') ?? panel.querySelector('button'),
  });
  useShortcut('range', popover.open);

  const choose = (choice: Choice): void => {
    popover.close();
    // Reset the interval, which may not suit the new range.
    setView({ choice, interval: null });
  };
  return (
    <>
      <button {...popover.triggerProps} type="button" className="toolbar-button toolbar-range">
        <Calendar aria-hidden />
        <span className="out-of-sight">Range: </span>
        <span className="toolbar-name">{choiceName(view.choice, view.zone)}</span>
        <Dates choice={view.choice} range={range} zone={view.zone} />
        <ChevronDown aria-hidden />
      </button>
      <div {...popover.panelProps} className="popover ranges" role="dialog" aria-label="Range">
        {popover.isOpen && (
          <>
            <ul className="ranges-presets">
              {PRESETS.map((preset) => (
                <li key={preset}>
                  <button
                    type="button"
                    className="menu-item"
                    aria-pressed={'preset' in view.choice && view.choice.preset === preset}
                    onClick={() => choose({ preset })}
                  >
                    {PRESET_NAMES[preset]}
                  </button>
                </li>
              ))}
            </ul>
            <CustomRange view={view} range={range} onChoose={choose} />
          </>
        )}
      </div>
    </>
  );
}

/** The current dates of a preset. */
function Dates({ choice, range, zone }: { choice: Choice; range: Range; zone: string }) {
  if (!('preset' in choice) || range.from === null || range.to === null) return null;
  return <span className="toolbar-dates numbers">{span(range.from, range.to, zone)}</span>;
}
