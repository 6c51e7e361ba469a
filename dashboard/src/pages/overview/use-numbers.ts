/** The numbers of the selected range and of the one to compare with. */
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import {
  type CountsRef,
  comparedCountsQuery,
  comparedSeriesQuery,
  type Reading,
  readingQuery,
  trendsQuery,
} from '../../api/stats.js';
import type { Bucket, Counts, Interval } from '../../api/types.js';
import type { Bar } from '../../chart/layout.js';
import { daySpan } from '../../format/dates.js';
import type { View } from '../../navigation/view.js';
import { findIncomplete } from '../../time/completeness.js';
import { type Bounded, isOpen, type Range } from '../../time/range.js';
import { useNow } from '../../time/use-now.js';
import { comparedAt, shownAt, stepMs } from './shown.js';

export interface Numbers {
  readonly range: Range;
  /** The range to compare with, and its dates. */
  readonly compared: (Bounded & { readonly name: string }) | null;
  /** Whether new queries can still fall into the range. */
  readonly isLive: boolean;
  readonly interval: Interval;
  readonly reading: Reading | undefined;
  readonly bars: readonly Bar[];
  /** The busiest callers over time; undefined while they are loading. */
  readonly trends: ReadonlyMap<string, readonly number[]> | undefined;
  readonly before: { readonly counts: Counts | undefined; readonly bars: readonly Bar[] | null };
  readonly updatedAt: number;
  /** True while the numbers of the previous selection are shown. */
  readonly isStale: boolean;
  readonly error: Error | null;
  readonly retry: () => void;
}

export function useNumbers(ref: CountsRef, view: View): Numbers {
  const now = useNow(stepMs);
  const { projectId, path } = ref;
  const shown = useMemo(() => shownAt({ projectId, path }, view, now), [projectId, path, view, now]);
  const { range } = shown;
  const compared = useMemo(() => findCompared(view, now), [view, now]);
  const isLive = isOpen(range, now);

  const { data, error, dataUpdatedAt, isPlaceholderData, refetch } = useQuery(readingQuery(shown, isLive));
  const interval = data?.series.interval ?? shown.interval;
  const counts = useQuery(comparedCountsQuery(ref, compared, view.caller));
  // Numbers of the previous range do not determine the interval of this one.
  const asked = isPlaceholderData ? shown.interval : interval;
  const series = useQuery(comparedSeriesQuery(shown, view.compare === null ? null : compared, asked));
  const trends = useQuery({
    ...trendsQuery(shown, asked),
    enabled: data !== undefined && !isPlaceholderData,
  });

  const bars = useMemo(
    () =>
      (data?.series.buckets ?? []).map((bucket): Bar => {
        const bar = toBar(bucket);
        const bounds = { from: bar.start, to: bar.end };
        const incomplete = findIncomplete(bounds, interval, view.zone, now);
        return incomplete === undefined ? bar : { ...bar, incomplete };
      }),
    [data, interval, view.zone, now],
  );
  const beforeBars = useMemo(() => (series.data?.buckets ?? []).map(toBar), [series.data]);
  const isCompared = view.compare !== null && compared !== null && series.data !== undefined;
  const trendsByCaller = useMemo(
    () => trends.data && new Map(trends.data.callers?.map(({ caller, counts }) => [caller, counts])),
    [trends.data],
  );
  return {
    range,
    compared,
    isLive,
    interval,
    reading: data,
    bars,
    trends: trendsByCaller,
    before: {
      counts: compared === null ? undefined : counts.data,
      bars: isCompared ? beforeBars : null,
    },
    updatedAt: dataUpdatedAt,
    isStale: isPlaceholderData,
    error,
    retry: () => void refetch(),
  };
}

function findCompared(view: View, now: number): Numbers['compared'] {
  const range = comparedAt(view, now);
  return range && { ...range, name: daySpan(range.from, range.to, view.zone) };
}

function toBar({ start, end, ...counts }: Bucket): Bar {
  return { start: Date.parse(start), end: Date.parse(end), ...counts };
}
