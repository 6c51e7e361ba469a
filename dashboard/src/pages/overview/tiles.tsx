/** The four totals. */

import { ArrowDown, ArrowRight, ArrowUp } from 'lucide-react';
import type { CSSProperties } from 'react';
import { CALLER_TYPE_NAMES, CALLER_TYPES } from '../../../../src/domain/queries/caller.js';
import type { CallerType, Counts } from '../../api/types.js';
import { change, count, share } from '../../format/numbers.js';

interface TilesProps {
  readonly counts: Counts;
  /** The count of the previous period; undefined if there is no such period or it is loading. */
  readonly before: Counts | undefined;
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
        {type !== 'total' && <span>{share(counts[type], counts.total)} of all</span>}
        {before !== undefined && <ChangeNote now={counts[type]} before={before[type]} />}
      </dd>
    </div>
  );
}

const ICONS = { up: ArrowUp, down: ArrowDown, same: ArrowRight };
const WORDS = { up: 'Up', down: 'Down', same: 'Unchanged' };

function ChangeNote({ now, before }: { now: number; before: number }) {
  const { direction, text } = change(now, before);
  const Icon = ICONS[direction];
  if (now === 0 && before === 0) return null;
  return (
    <span className="tile-change" title={`${count(before)} in the previous period`}>
      <Icon aria-hidden />
      <span className="out-of-sight">{WORDS[direction]} </span>
      {text ?? 'from none'}
      <span className="out-of-sight">
        {text === null ? '' : ` from ${count(before)}`} in the previous period
      </span>
    </span>
  );
}
