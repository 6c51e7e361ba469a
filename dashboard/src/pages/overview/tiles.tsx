/** The four totals. */

import { ArrowDown, ArrowRight, ArrowUp } from 'lucide-react';
import type { CSSProperties } from 'react';
import { CALLER_TYPE_NAMES, CALLER_TYPES } from '../../../../src/domain/queries/caller.js';
import type { CallerType, Counts } from '../../api/types.js';
import { change, count, share } from '../../format/numbers.js';

interface TilesProps {
  readonly counts: Counts;
  /** The counts to compare with, and their dates; undefined if there is no such range or it is loading. */
  readonly before: { readonly counts: Counts; readonly name: string } | undefined;
}

export function Tiles({ counts, before }: TilesProps) {
  // The longest number determines the font size of all four, so that each fits its tile.
  const size = { '--length': count(counts.total).length } as CSSProperties;
  return (
    <dl className="tiles card" style={size}>
      <Tile type="total" counts={counts} before={before} />
      {CALLER_TYPES.map((type) => (
        <Tile key={type} type={type} counts={counts} before={before} />
      ))}
    </dl>
  );
}

function Tile({ type, counts, before }: TilesProps & { type: CallerType | 'total' }) {
  return (
    <div className="tile">
      <dt className="tile-name">
        {type !== 'total' && <span className={`swatch type-${type}`} aria-hidden />}
        {type === 'total' ? 'Total' : CALLER_TYPE_NAMES[type]}
      </dt>
      <dd className="tile-number numbers">{count(counts[type])}</dd>
      <dd className="tile-notes numbers">
        {type !== 'total' && counts[type] > 0 && <span>{share(counts[type], counts.total)} of all</span>}
        {before !== undefined && (
          <ChangeNote
            now={counts[type]}
            before={before.counts[type]}
            name={before.name}
            isNamed={type === 'total'}
          />
        )}
      </dd>
    </div>
  );
}

const ICONS = { up: ArrowUp, down: ArrowDown, same: ArrowRight };
const WORDS = { up: 'Up ', down: 'Down ', same: '' };

interface ChangeNoteProps {
  readonly now: number;
  readonly before: number;
  /** The dates of `before`. */
  readonly name: string;
  /** Shows the name; the other tiles have it for screen readers and as a tooltip. */
  readonly isNamed: boolean;
}

function ChangeNote({ now, before, name, isNamed }: ChangeNoteProps) {
  const changed = change(now, before);
  if (changed === null) return null;
  const Icon = ICONS[changed.direction];
  return (
    <span className="tile-compared" title={`${count(before)} in ${name}`}>
      <span className="tile-change">
        <Icon aria-hidden />
        <span className="out-of-sight">{WORDS[changed.direction]}</span>
        {changed.text}
      </span>
      <span className={isNamed ? '' : 'out-of-sight'}> vs {name}</span>
    </span>
  );
}
