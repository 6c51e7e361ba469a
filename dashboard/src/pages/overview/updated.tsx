/** When the numbers were last updated. */
import { relative } from '../../format/relative.js';
import { useNow } from '../../time/use-now.js';
import type { Numbers } from './use-numbers.js';

export function Updated({ numbers: { updatedAt, isLive, error, reading } }: { numbers: Numbers }) {
  const now = useNow(1_000);
  if (reading === undefined) return null;
  if (error !== null) return <p className="updated updated-late">Not up to date. Trying again</p>;
  if (!isLive) return null;
  return (
    <p className="updated numbers">
      <span className="updated-dot" aria-hidden />
      Updated {relative(updatedAt, now)}
    </p>
  );
}
