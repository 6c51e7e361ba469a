/** The four totals. */
import type { CSSProperties } from 'react';
import { CALLER_TYPE_NAMES, CALLER_TYPES } from '../../../../../src/domain/queries/caller.js';
import type { CallerType, Numbers } from '../../../api/types.js';
import { ChangeNote } from '../../../components/content/change.js';
import { count, share } from '../../../format/numbers.js';

interface TilesProps {
  readonly numbers: Numbers;
  /** Undefined where nobody explains the total. */
  readonly onExplain?: (() => void) | undefined;
}

export function Tiles({ numbers, onExplain }: TilesProps) {
  // The longest number determines the font size of all four, so that each fits its tile.
  const size = { '--length': count(numbers.counts.total).length } as CSSProperties;
  return (
    <dl className="tiles card" style={size}>
      <Tile type="total" numbers={numbers} onExplain={onExplain} />
      {CALLER_TYPES.map((type) => (
        <Tile key={type} type={type} numbers={numbers} />
      ))}
    </dl>
  );
}

function Tile({ type, numbers, onExplain }: TilesProps & { type: CallerType | 'total' }) {
  const { counts, previous, recordingBegan } = numbers;
  return (
    <div className="tile">
      <dt className="tile-name">
        {type !== 'total' && <span className={`swatch type-${type}`} aria-hidden />}
        {type === 'total' ? 'Total' : CALLER_TYPE_NAMES[type]}
      </dt>
      <dd className="tile-number numbers">{count(counts[type])}</dd>
      <dd className="tile-notes numbers">
        {type !== 'total' && counts[type] > 0 && <span>{share(counts[type], counts.total)} of all</span>}
        {previous !== null && (
          <ChangeNote
            now={counts[type]}
            before={previous[type]}
            range={previous}
            recordingBegan={recordingBegan}
            isNamed={type === 'total'}
          />
        )}
        {onExplain !== undefined && (
          <button type="button" className="tile-explain" onClick={onExplain}>
            Why did it change?
          </button>
        )}
      </dd>
    </div>
  );
}
