/** Chooses the range of an overview whose URL names none, before anything is shown. */
import { useQuery } from '@tanstack/react-query';
import { useEffectEvent, useLayoutEffect, useMemo } from 'react';
import { type CountsRef, countsQuery } from '../../api/stats.js';
import { PageLoading } from '../../layout/page-boundary.js';
import { defaultZone, initialChoice, readView, type Viewed } from '../../navigation/view.js';
import { ALL_TIME, type Choice, DEFAULT_CHOICE } from '../../time/range.js';
import { useNumbers } from './use-numbers.js';

interface LandingProps {
  readonly counts: CountsRef;
  readonly project: Viewed;
  /** The query string of the URL. */
  readonly query: string;
  readonly onChoice: (choice: Choice) => void;
}

export function Landing({ counts, project, query, onChoice }: LandingProps) {
  const view = useMemo(() => readView(new URLSearchParams(query), defaultZone(project)), [query, project]);
  // Fetches the default range, which the page needs next in most cases.
  const { reading, error } = useNumbers(counts, view);
  const whole = useQuery(countsQuery(counts, ALL_TIME));
  const recentTotal = reading?.counts.total;
  const wholeTotal = whole.data?.total;
  const hasFailed = error !== null || whole.error !== null;

  const choose = useEffectEvent(onChoice);
  // Before the browser paints, because the cache may have the counts already.
  useLayoutEffect(() => {
    if (recentTotal !== undefined && wholeTotal !== undefined) choose(initialChoice(recentTotal, wholeTotal));
    else if (hasFailed) choose(DEFAULT_CHOICE);
  }, [recentTotal, wholeTotal, hasFailed]);

  return <PageLoading />;
}
