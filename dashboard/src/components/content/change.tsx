/** How a count changed: an arrow and a percentage. */
import { ArrowDown, ArrowRight, ArrowUp } from 'lucide-react';
import { change, count } from '../../format/numbers.js';
import './change.css';

const ICONS = { new: ArrowUp, up: ArrowUp, down: ArrowDown, same: ArrowRight };
const WORDS = { new: '', up: 'Up ', down: 'Down ', same: '' };

interface ChangeNoteProps {
  readonly now: number;
  readonly before: number;
  /** The dates of `before`. */
  readonly name: string;
  /** Shows the name; otherwise it is for screen readers and a tooltip. */
  readonly isNamed: boolean;
}

export function ChangeNote({ now, before, name, isNamed }: ChangeNoteProps) {
  const changed = change(now, before);
  if (changed === null) return null;
  const Icon = ICONS[changed.direction];
  return (
    <span className="change" title={`${count(before)} in ${name}`}>
      <span className="change-size">
        <Icon aria-hidden />
        <span className="out-of-sight">{WORDS[changed.direction]}</span>
        {changed.text}
      </span>
      <span className={isNamed ? '' : 'out-of-sight'}> vs {name}</span>
    </span>
  );
}
