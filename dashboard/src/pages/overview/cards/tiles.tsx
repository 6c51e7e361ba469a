/** The four totals. */

import type { CSSProperties } from 'react';
import { CALLER_TYPE_NAMES, CALLER_TYPES } from '../../../../../src/domain/queries/caller.js';
import type { CallerType, Counts } from '../../../api/types.js';
import { ChangeNote } from '../../../components/content/change.js';
import { count, share } from '../../../format/numbers.js';

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
