/** The form for a range between two days or times. */
import { type SubmitEvent, useState } from 'react';
import { Button } from '../../../components/forms/button.js';
import type { View } from '../../../navigation/view.js';
import { now } from '../../../time/clock.js';
import { type Choice, isChoice, type Range } from '../../../time/range.js';
import { toLocal } from '../../../time/zone.js';

interface CustomRangeProps {
  readonly view: View;
  readonly range: Range;
  readonly onChoose: (choice: Choice) => void;
}

export function CustomRange({ view, range, onChoose }: CustomRangeProps) {
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
