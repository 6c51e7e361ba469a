/** Chooses the range of an overview whose URL names none, before anything is shown. */
import { useQuery } from '@tanstack/react-query';
import { useEffectEvent, useLayoutEffect, useMemo } from 'react';
import { type CountsRef, countsQuery, readingQuery } from '../../api/stats.js';
import { PageLoading } from '../../layout/page-boundary.js';
import { defaultZone, initialChoice, readView, type Viewed } from '../../navigation/view.js';
import { now } from '../../time/clock.js';
import { ALL_TIME, type Choice, DEFAULT_CHOICE } from '../../time/range.js';
import { shownAt } from './shown.js';

interface LandingProps {
  readonly counts: CountsRef;
  readonly project: Viewed;
  /** The query string of the URL. */
  readonly query: string;
  readonly onChoice: (choice: Choice) => void;
}

export function Landing({ counts, project, query, onChoice }: LandingProps) {
  const { projectId, path } = counts;
  const shown = useMemo(() => {
    const view = readView(new URLSearchParams(query), defaultZone(project));
    return shownAt({ projectId, path }, view, now());
  }, [projectId, path, project, query]);
  // Only these two decide. A request that is still on its way when this ends is cancelled, and the page would send it again.
  const reading = useQuery(readingQuery(shown, false));
  const whole = useQuery(countsQuery(counts, ALL_TIME));
  const recentTotal = reading.data?.counts.total;
  const wholeTotal = whole.data?.total;
  const hasFailed = reading.error !== null || whole.error !== null;

  const choose = useEffectEvent(onChoice);
  // Before the browser paints, because the cache may have the counts already.
  useLayoutEffect(() => {
    if (recentTotal !== undefined && wholeTotal !== undefined) choose(initialChoice(recentTotal, wholeTotal));
    else if (hasFailed) choose(DEFAULT_CHOICE);
  }, [recentTotal, wholeTotal, hasFailed]);

  return <PageLoading />;
}
