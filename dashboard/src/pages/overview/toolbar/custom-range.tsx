/** The form for a range between two days or times. */
import { type SubmitEvent, useState } from 'react';
import type { Numbers } from '../../../api/types.js';
import { Button } from '../../../components/forms/button.js';
import type { View } from '../../../navigation/view.js';
import { type Choice, isChoice } from '../../../time/choice.js';
import { daysOf } from '../../../time/local.js';

interface CustomRangeProps {
  readonly view: View;
  readonly numbers: Numbers | undefined;
  readonly onChoose: (choice: Choice) => void;
}

export function CustomRange({ view, numbers, onChoose }: CustomRangeProps) {
  const [ends, setEnds] = useState(() => initialEnds(view, numbers));
  const [hasTimes, setHasTimes] = useState(!('period' in view.choice) && view.choice.from.includes('T'));
  const [problem, setProblem] = useState('');

  const apply = (event: SubmitEvent): void => {
    event.preventDefault();
    const choice = hasTimes
      ? { from: `${ends.from}T${ends.fromTime}`, to: `${ends.to}T${ends.toTime}` }
      : { from: ends.from, to: ends.to };
    if (isChoice(choice)) onChoose(choice);
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
function initialEnds({ choice }: View, numbers: Numbers | undefined) {
  if ('period' in choice) {
    const { range, buckets = [] } = numbers ?? {};
    const start = range?.dateFrom ?? buckets[0]?.start;
    const end = range?.dateTo ?? buckets.at(-1)?.end;
    const days = start === undefined || end === undefined ? { from: '', to: '' } : daysOf({ start, end });
    return { ...days, fromTime: '00:00', toTime: '23:59' };
  }
  const [from = '', fromTime = '00:00'] = choice.from.split('T');
  const [to = '', toTime = '23:59'] = choice.to.split('T');
  return { from, fromTime, to, toTime };
}
