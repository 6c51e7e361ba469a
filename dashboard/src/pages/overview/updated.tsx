/** When the numbers were last updated. */
import { relative } from '../../format/relative.js';
import { useNow } from '../../time/use-now.js';
import type { Reading } from './use-reading.js';

export function Updated({ reading: { numbers, updatedAt, isStale, error } }: { reading: Reading }) {
  const now = useNow(1_000);
  if (numbers === undefined) return null;
  if (error !== null) return <p className="updated updated-late">Not up to date. Trying again</p>;
  if (isStale) return <p className="updated">Loading…</p>;
  if (!numbers.isOpen) return null;
  return (
    <p className="updated numbers">
      <span className="updated-dot" aria-hidden />
      Updated {relative(updatedAt, now)}
    </p>
  );
}
