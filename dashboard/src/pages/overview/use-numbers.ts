/** The numbers of the selected range and of the previous period. */
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import {
  type ProjectRef,
  previousCountsQuery,
  previousSeriesQuery,
  type Reading,
  readingQuery,
} from '../../api/stats.js';
import type { Bucket, Counts, Interval } from '../../api/types.js';
import type { Bar } from '../../chart/layout.js';
import type { View } from '../../navigation/view.js';
import { useNow } from '../../time/clock.js';
import { findIncomplete } from '../../time/completeness.js';
import { intervalFor } from '../../time/interval.js';
import { type Bounded, isOpen, previousRange, type Range, resolveRange } from '../../time/range.js';

const minuteMs = 60_000;

export interface Numbers {
  readonly range: Range;
  readonly previous: Bounded | null;
  /** Whether new queries can still fall into the range. */
  readonly isLive: boolean;
  readonly interval: Interval;
  readonly reading: Reading | undefined;
  readonly bars: readonly Bar[];
  readonly before: { readonly counts: Counts | undefined; readonly bars: readonly Bar[] | null };
  readonly updatedAt: number;
  /** True while the numbers of the previous selection are shown. */
  readonly isStale: boolean;
  readonly error: Error | null;
  readonly retry: () => void;
}

export function useNumbers(ref: ProjectRef, view: View): Numbers {
  const now = useNow(minuteMs);
  const range = useMemo(() => resolveRange(view.choice, view.zone, now), [view.choice, view.zone, now]);
  const previous = useMemo(() => previousRange(view.choice, view.zone, now), [view.choice, view.zone, now]);
  const isLive = isOpen(range, now);
  const shown = {
    ...ref,
    range,
    zone: view.zone,
    interval: intervalFor(view.interval, range),
    automatic: view.interval === null,
  };

  const { data, error, dataUpdatedAt, isPlaceholderData, refetch } = useQuery(readingQuery(shown, isLive));
  const interval = data?.series.interval ?? shown.interval;
  const counts = useQuery(previousCountsQuery(ref, previous));
  // Numbers of the previous range do not determine the interval of this one.
  const asked = isPlaceholderData ? shown.interval : interval;
  const series = useQuery(previousSeriesQuery(shown, view.compare ? previous : null, asked));

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
  const isCompared = view.compare && previous !== null && series.data !== undefined;
  return {
    range,
    previous,
    isLive,
    interval,
    reading: data,
    bars,
    before: {
      counts: previous === null ? undefined : counts.data,
      bars: isCompared ? beforeBars : null,
    },
    updatedAt: dataUpdatedAt,
    isStale: isPlaceholderData,
    error,
    retry: () => void refetch(),
  };
}

function toBar({ start, end, ...counts }: Bucket): Bar {
  return { start: Date.parse(start), end: Date.parse(end), ...counts };
}
