/** A small line without axes: how a count went over time. */
import type { CallerType } from '../api/types.js';
import { count } from '../format/numbers.js';
import './sparkline.css';

const width = 96;
const height = 24;

interface SparklineProps {
  /** Undefined while they are loading, or if there are none. */
  readonly values: readonly number[] | undefined;
  readonly type: CallerType | 'all';
}

export function Sparkline({ values, type }: SparklineProps) {
  if (values === undefined || values.length < 2) return null;
  const max = Math.max(1, ...values);
  const points = values.map((value, at) => {
    const x = 1 + (at / (values.length - 1)) * (width - 2);
    const y = height - 2 - (value / max) * (height - 4);
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  });
  return (
    <>
      <svg className="sparkline" viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden>
        <polyline points={points.join(' ')} className={`type-${type}`} />
      </svg>
      <span className="out-of-sight">
        first {count(values[0] ?? 0)}, highest {count(max)}, last {count(values.at(-1) ?? 0)}
      </span>
    </>
  );
}
