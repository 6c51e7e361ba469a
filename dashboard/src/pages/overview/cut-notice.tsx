/** Says which imported counts the range and the bars of the chart cut. */
import { useQuery } from '@tanstack/react-query';
import type { CountsRef } from '../../api/paths.js';
import { cutBoundsQuery } from '../../api/stats.js';
import type { CutBounds, Interval } from '../../api/types.js';
import { Notice } from '../../components/feedback/notice.js';
import { span } from '../../format/dates.js';
import type { View } from '../../navigation/view.js';
import { queriesInWords } from '../corrections/words.js';

interface CutNoticeProps {
  readonly counts: CountsRef;
  readonly view: View;
  /** The interval of the chart; null without a chart. */
  readonly interval: Interval | null;
  /** While the interval of the view is not known. */
  readonly isStale: boolean;
}

export function CutNotice({ counts, view, interval, isStale }: CutNoticeProps) {
  const { data } = useQuery({ ...cutBoundsQuery(counts, view, interval), enabled: !isStale });
  if (data === undefined || (data.dateFrom === null && data.dateTo === null && data.buckets === null))
    return null;
  return (
    <Notice>
      {data.dateFrom !== null && (
        <p>This range begins within imported counts: none of their {describe(data.dateFrom)} are in it.</p>
      )}
      {data.dateTo !== null && (
        <p>This range ends within imported counts: all of their {describe(data.dateTo)} are in it.</p>
      )}
      {data.buckets !== null && interval !== null && (
        <p>
          Imported counts begin in one {interval} of this chart and end in a later one: all of their{' '}
          {describe(data.buckets)} are in the earlier one.
          {interval !== 'hour' && ' If they were imported in another time zone, choose that one.'}
        </p>
      )}
      <p>Imported counts are counted at the start of their span.</p>
    </Notice>
  );
}

function describe(cut: NonNullable<CutBounds['dateFrom']>): string {
  return `${queriesInWords(cut.count)} of ${span(cut)}`;
}
