/** The tooltip of the bar under the pointer or the cursor. */

import { useLayoutEffect, useRef } from 'react';
import { CALLER_TYPE_NAMES } from '../../../src/domain/queries/caller.js';
import type { Bucket, CallerType } from '../api/types.js';
import { count } from '../format/numbers.js';
import { sumTypes } from './drawing.js';

interface TooltipProps {
  readonly title: string;
  /** Such as that the bucket is not complete. */
  readonly notes: readonly string[];
  readonly bar: Bucket;
  readonly types: readonly CallerType[];
  readonly before: { readonly title: string; readonly total: number } | null;
  /** The center of the bar, and the width of the chart. */
  readonly center: number;
  readonly width: number;
  /** Opens the bar; null where a click on the bar does that. */
  readonly onOpen: (() => void) | null;
}

export function Tooltip({ title, notes, bar, types, before, center, width, onOpen }: TooltipProps) {
  const tip = useRef<HTMLDivElement>(null);

  useLayoutEffect(() => {
    if (tip.current === null) return;
    // Beside the bar, on the side with more room.
    const size = tip.current.offsetWidth;
    const left = center + 16 + size <= width ? center + 16 : center - 16 - size;
    tip.current.style.translate = `${Math.max(0, Math.min(left, width - size))}px 0`;
  });

  return (
    <div ref={tip} className={onOpen === null ? 'chart-tip' : 'chart-tip chart-tip-open'}>
      <div aria-hidden>
        <p className="chart-tip-title">{title}</p>
        {notes.map((note) => (
          <p key={note} className="chart-tip-note">
            {note}
          </p>
        ))}
        {types.toReversed().map((type) => (
          <p key={type} className="chart-tip-row">
            <span className={`swatch type-${type}`} />
            <span>{CALLER_TYPE_NAMES[type]}</span>
            <span>{count(bar[type])}</span>
          </p>
        ))}
        {types.length > 1 && (
          <p className="chart-tip-row chart-tip-total">
            <span>{types.length === 3 ? 'Total' : 'Shown'}</span>
            <span>{count(sumTypes(bar, types))}</span>
          </p>
        )}
        {before !== null && (
          <p className="chart-tip-row chart-tip-before">
            <span className="swatch swatch-before" />
            <span>{before.title}</span>
            <span>{count(before.total)}</span>
          </p>
        )}
      </div>
      {onOpen !== null && (
        <button type="button" className="button button-plain button-wide" onClick={onOpen}>
          Open {title}
        </button>
      )}
    </div>
  );
}
