/** Opens the numbers of a project: on the range in the URL or, if it names none, on the one that suits the project. */
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffectEvent, useLayoutEffect, useState } from 'react';
import { useSearch } from 'wouter';
import type { CountsRef } from '../../api/paths.js';
import { numbersQuery, wholeQuery } from '../../api/stats.js';
import { PageLoading } from '../../layout/page-boundary.js';
import { initialChoice, readChoice, readView, type Viewed } from '../../navigation/view.js';
import { type Choice, DEFAULT_CHOICE } from '../../time/choice.js';

interface OpenedProps {
  readonly counts: CountsRef;
  readonly project: Viewed;
  /** `usual`: the range if the URL names none. */
  readonly children: (usual: Choice) => ReactNode;
}

export function Opened({ counts, project, children }: OpenedProps) {
  const query = new URLSearchParams(useSearch());
  const [usual, setUsual] = useState(() => (readChoice(query) === null ? null : DEFAULT_CHOICE));
  if (usual !== null) return children(usual);
  return <Choosing counts={counts} project={project} query={query} onChoice={setUsual} />;
}

interface ChoosingProps extends Omit<OpenedProps, 'children'> {
  readonly query: URLSearchParams;
  readonly onChoice: (choice: Choice) => void;
}

/** Only these two requests decide. One that is still on its way would be cancelled, and sent again by the page. */
function Choosing({ counts, project, query, onChoice }: ChoosingProps) {
  const recent = useQuery({ ...numbersQuery(counts, readView(query, project)), refetchInterval: false });
  const whole = useQuery(wholeQuery(counts));
  const recentTotal = recent.data?.counts.total;
  const wholeTotal = whole.data?.total;
  const hasFailed = recent.error !== null || whole.error !== null;

  const choose = useEffectEvent(onChoice);
  // Before the browser paints, because the cache may have the counts already.
  useLayoutEffect(() => {
    if (recentTotal !== undefined && wholeTotal !== undefined) choose(initialChoice(recentTotal, wholeTotal));
    else if (hasFailed) choose(DEFAULT_CHOICE);
  }, [recentTotal, wholeTotal, hasFailed]);

  return <PageLoading />;
}
