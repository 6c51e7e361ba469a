/** Chooses the range of an overview whose URL names none, before anything is shown. */
import { useQuery } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useMemo } from 'react';
import { ALL_TIME, countsQuery } from '../../api/stats.js';
import { PageLoading } from '../../layout/page-boundary.js';
import type { ProjectPlace } from '../../navigation/current-project.js';
import { readView, usualChoiceOf } from '../../navigation/view.js';
import { type Choice, DEFAULT_CHOICE } from '../../time/range.js';
import { useNumbers } from './use-numbers.js';
import { usualZoneOf } from './use-view.js';

interface LandingProps extends ProjectPlace {
  /** The query string of the URL. */
  readonly query: string;
  readonly onChoice: (choice: Choice) => void;
}

export function Landing({ organization, project, query, onChoice }: LandingProps) {
  const ids = { organizationId: organization.id, projectId: project.id };
  const view = useMemo(() => readView(new URLSearchParams(query), usualZoneOf(project)), [query, project]);
  // Fetches the default range, which the page needs next in most cases.
  const { reading, error } = useNumbers(ids, view);
  const whole = useQuery(countsQuery(ids, ALL_TIME));
  const recentTotal = reading?.counts.total;
  const wholeTotal = whole.data?.total;
  const hasFailed = error !== null || whole.error !== null;

  const choose = useEffectEvent(onChoice);
  useEffect(() => {
    if (recentTotal !== undefined && wholeTotal !== undefined) choose(usualChoiceOf(recentTotal, wholeTotal));
    else if (hasFailed) choose(DEFAULT_CHOICE);
  }, [recentTotal, wholeTotal, hasFailed]);

  return <PageLoading />;
}
