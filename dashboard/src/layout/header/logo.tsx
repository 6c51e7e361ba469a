import { CALLER_TYPES } from '../../../../src/domain/queries/caller.js';

const BARS = [
  { x: 1, y: 9, height: 10 },
  { x: 7.75, y: 1, height: 18 },
  { x: 14.5, y: 5.5, height: 13.5 },
] as const;

/** The logo: three bars in the colors of the chart. */
export function Logo() {
  return (
    <svg className="logo" viewBox="0 0 20 20" width="20" height="20" aria-hidden>
      {BARS.map((bar, at) => (
        <rect key={bar.x} {...bar} width="4.5" rx="1.25" className={`bar type-${CALLER_TYPES[at]}`} />
      ))}
    </svg>
  );
}
