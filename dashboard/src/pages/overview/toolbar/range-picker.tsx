/** Selects the range: a preset, or custom ends. */
import { Calendar, ChevronDown } from 'lucide-react';
import { type SubmitEvent, useState } from 'react';
import { Button } from '../../../components/forms/button.js';
import { usePopover } from '../../../components/overlays/use-popover.js';
import { span } from '../../../format/dates.js';
import { useShortcut } from '../../../layout/use-shortcuts.js';
import type { View } from '../../../navigation/view.js';
import { now } from '../../../time/clock.js';
import { type Choice, isChoice, PRESETS, type Range } from '../../../time/range.js';
import { toLocal } from '../../../time/zone.js';
import { choiceName, PRESET_NAMES } from './choice-name.js';
import '../../../components/overlays/popover.css';
import './range-picker.css';

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
            <Custom view={view} range={range} onChoose={choose} />
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

interface CustomProps {
  readonly view: View;
  readonly range: Range;
  readonly onChoose: (choice: Choice) => void;
}

function Custom({ view, range, onChoose }: CustomProps) {
  const [ends, setEnds] = useState(() => initialEnds(view, range));
  const [hasTimes, setHasTimes] = useState(!('preset' in view.choice) && view.choice.from.includes('T'));
  const [problem, setProblem] = useState('');

  const apply = (event: SubmitEvent): void => {
    event.preventDefault();
    const choice = hasTimes
      ? { from: `${ends.from}T${ends.fromTime}`, to: `${ends.to}T${ends.toTime}` }
      : { from: ends.from, to: ends.to };
    if (isChoice(choice, view.zone)) onChoose(choice);
    else setProblem('The end must come after the start.');
  };
  const field = (name: keyof typeof ends, label: string, type: 'date' | 'time') => (
    <label className="ranges-field">
      {label}
      <input
        className="input"
        type={type}
        required
        value={ends[name]}
        onChange={(event) => {
          setEnds({ ...ends, [name]: event.target.value });
          setProblem('');
        }}
      />
    </label>
  );
  return (
    <form className="ranges-custom" onSubmit={apply} aria-label="Custom range">
      <div className="ranges-row">
        {field('from', 'From', 'date')}
        {hasTimes && field('fromTime', 'At', 'time')}
      </div>
      <div className="ranges-row">
        {field('to', hasTimes ? 'To' : 'To, inclusive', 'date')}
        {hasTimes && field('toTime', 'Before', 'time')}
      </div>
      <label className="check">
        <input type="checkbox" checked={hasTimes} onChange={(event) => setHasTimes(event.target.checked)} />
        <span>With times</span>
      </label>
      <p className="field-error" role="alert">
        {problem}
      </p>
      <Button type="submit" kind="primary">
        Apply
      </Button>
    </form>
  );
}

/** The initial ends: those on screen. */
function initialEnds({ choice, zone }: View, range: Range) {
  const time = (text: string, usual: string): string => text.split('T')[1] ?? usual;
  if (!('preset' in choice))
    return {
      from: choice.from.slice(0, 10),
      fromTime: time(choice.from, '00:00'),
      to: choice.to.slice(0, 10),
      toTime: time(choice.to, '23:59'),
    };
  const today = toLocal(now(), zone).day;
  return {
    from: range.from === null ? `${today.slice(0, 8)}01` : toLocal(range.from, zone).day,
    fromTime: '00:00',
    to: range.to === null ? today : toLocal(range.to - 1, zone).day,
    toTime: '23:59',
  };
}
