/** How a count changed: an arrow and a percentage. */
import { ArrowDown, ArrowRight, ArrowUp } from 'lucide-react';
import { describeChange } from '../../../../src/domain/counting/change.js';
import { rangeName } from '../../format/dates.js';
import { pageLocale } from '../../format/locale.js';
import { count } from '../../format/numbers.js';
import './change.css';

const ICONS = { new: ArrowUp, up: ArrowUp, down: ArrowDown, same: ArrowRight };
const WORDS = { new: '', up: 'Up ', down: 'Down ', same: '' };

interface ChangeNoteProps {
  readonly now: number;
  readonly before: number;
  /** The range of `before`. */
  readonly range: { readonly dateFrom: string; readonly dateTo: string };
  readonly recordingBegan: string | null;
  /** Shows the dates; otherwise they are for screen readers and a tooltip. */
  readonly isNamed: boolean;
}

export function ChangeNote({ now, before, range, recordingBegan, isNamed }: ChangeNoteProps) {
  const comparedFrom = range.dateFrom;
  const changed = describeChange(now, before, { comparedFrom, recordingBegan, locale: pageLocale });
  if (changed === null) return null;
  const name = rangeName(range);
  const { direction, text } = changed;
  if (direction === 'unknown')
    return <span className={isNamed ? 'change' : 'out-of-sight'}>{text.replace(/^r/, 'R')}</span>;
  const Icon = ICONS[direction];
  return (
    <span className="change" title={`${count(before)} in ${name}`}>
      <span className="change-size">
        <Icon aria-hidden />
        <span className="out-of-sight">{WORDS[direction]}</span>
        {text}
      </span>
      <span className={isNamed ? '' : 'out-of-sight'}> vs {name}</span>
    </span>
  );
}
