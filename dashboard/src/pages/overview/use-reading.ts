/** The numbers of the selected range. */
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { CountsRef } from '../../api/paths.js';
import { numbersQuery, trendsQuery } from '../../api/stats.js';
import type { Numbers } from '../../api/types.js';
import type { View } from '../../navigation/view.js';

/** The last answer of the server, and what is known of it. */
export interface Reading {
  /** Undefined while the first one is loading. */
  readonly numbers: Numbers | undefined;
  /** The busiest callers over time; undefined while they are loading. */
  readonly trends: ReadonlyMap<string, readonly number[]> | undefined;
  readonly updatedAt: number;
  /** True while the numbers of the previous selection are shown. */
  readonly isStale: boolean;
  readonly error: Error | null;
  readonly retry: () => void;
}

export function useReading(ref: CountsRef, view: View): Reading {
  const { data, error, dataUpdatedAt, isPlaceholderData, refetch } = useQuery(numbersQuery(ref, view));
  const trends = useQuery({
    ...trendsQuery(ref, view, data?.interval ?? 'day'),
    enabled: data !== undefined && !isPlaceholderData,
  });
  const trendsByCaller = useMemo(
    () => trends.data && new Map(trends.data.callers?.map(({ caller, counts }) => [caller, counts])),
    [trends.data],
  );
  return {
    numbers: data,
    trends: trendsByCaller,
    updatedAt: dataUpdatedAt,
    isStale: isPlaceholderData,
    error,
    retry: () => void refetch(),
  };
}
