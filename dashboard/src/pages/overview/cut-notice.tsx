/** Says which imported counts the range cuts, and which queries have doubtful times. */
import { useQuery } from '@tanstack/react-query';
import type { CountsRef } from '../../api/paths.js';
import { cutBoundsQuery } from '../../api/stats.js';
import type { CutBounds } from '../../api/types.js';
import { DocsLink } from '../../components/content/docs-link.js';
import { Notice } from '../../components/feedback/notice.js';
import { span } from '../../format/dates.js';
import { count } from '../../format/numbers.js';
import type { View } from '../../navigation/view.js';

interface CutNoticeProps {
  readonly counts: CountsRef;
  readonly view: View;
  readonly doubtful: number | undefined;
}

export function CutNotice({ counts, view, doubtful }: CutNoticeProps) {
  const { data } = useQuery(cutBoundsQuery(counts, view));
  if (doubtful !== undefined && doubtful > 0)
    return (
      <Notice kind="warn">
        {queries(doubtful)} of times before 2000 {doubtful === 1 ? 'is' : 'are'} in the numbers, but not in
        the chart: likely, the times were in another unit, or of a clock that was not set.{' '}
        <DocsLink page="not-arriving#times-before-2000">What to do</DocsLink>
      </Notice>
    );
  if (data === undefined || (data.dateFrom === null && data.dateTo === null)) return null;
  return (
    <Notice>
      {data.dateFrom !== null && (
        <p>This range begins within imported counts: none of their {describe(data.dateFrom)} are in it.</p>
      )}
      {data.dateTo !== null && (
        <p>This range ends within imported counts: all of their {describe(data.dateTo)} are in it.</p>
      )}
      <p>Imported counts are counted at the start of their span.</p>
    </Notice>
  );
}

function describe(cut: NonNullable<CutBounds['dateFrom']>): string {
  return `${queries(cut.count)} of ${span(cut)}`;
}

function queries(number: number): string {
  return number === 1 ? '1 query' : `${count(number)} queries`;
}
