/** Says which imported counts the range cuts. */
import { useQuery } from '@tanstack/react-query';
import type { CountsRef } from '../../api/paths.js';
import { cutBoundsQuery } from '../../api/stats.js';
import type { CutBounds } from '../../api/types.js';
import { Notice } from '../../components/feedback/notice.js';
import { span } from '../../format/dates.js';
import { count } from '../../format/numbers.js';
import type { View } from '../../navigation/view.js';

interface CutNoticeProps {
  readonly counts: CountsRef;
  readonly view: View;
}

export function CutNotice({ counts, view }: CutNoticeProps) {
  const { data } = useQuery(cutBoundsQuery(counts, view));
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
  const queries = cut.count === 1 ? '1 query' : `${count(cut.count)} queries`;
  return `${queries} of ${span(cut)}`;
}
