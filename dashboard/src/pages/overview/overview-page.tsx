/** The overview of a project. */
import { useQuery } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useState } from 'react';
import { useSearch } from 'wouter';
import { countsOf } from '../../api/paths.js';
import { type CountsRef, countsQuery } from '../../api/stats.js';
import { Page } from '../../components/content/page.js';
import { Notice } from '../../components/feedback/notice.js';
import type { CurrentProject } from '../../navigation/current-project.js';
import { lazyPart } from '../../navigation/lazy-code.js';
import { defaultZone, readChoice } from '../../navigation/view.js';
import { ALL_TIME, type Choice, DEFAULT_CHOICE } from '../../time/range.js';
import { Landing } from './landing.js';
import { NumbersView } from './numbers-view.js';
import { CurlMenu } from './toolbar/curl-menu.js';
import { ExportMenu } from './toolbar/export-menu.js';
import { Updated } from './updated.js';
import { type Numbers, useNumbers } from './use-numbers.js';
import { useView } from './use-view.js';

const FirstQuery = lazyPart(() => import('./first-query.js'), 'FirstQuery');

/** Poll interval while a project has no queries. */
const firstQueryMs = 3_000;

export function OverviewPage(current: CurrentProject) {
  const query = useSearch();
  const [usual, setUsual] = useState(() =>
    readChoice(new URLSearchParams(query), defaultZone(current.project)) === null ? null : DEFAULT_CHOICE,
  );
  return usual === null ? (
    <Landing counts={toCounts(current)} project={current.project} query={query} onChoice={setUsual} />
  ) : (
    <Overview {...current} usual={usual} />
  );
}

function toCounts({ organization, project }: CurrentProject): CountsRef {
  return countsOf({ organizationId: organization.id, projectId: project.id });
}

/** `usual`: the range if the URL names none. */
function Overview({ usual, ...current }: CurrentProject & { readonly usual: Choice }) {
  const { project } = current;
  const counts = toCounts(current);
  const [view, setView] = useView(project, usual);
  const numbers = useNumbers(counts, view);
  const isEmpty = useIsEmpty(counts, numbers);
  const hasArrived = useArrival(isEmpty, numbers.retry);

  if (isEmpty)
    return (
      <Page title="Overview" of={project.name} lead="Nothing was recorded in this project yet.">
        <FirstQuery {...current} />
      </Page>
    );
  return (
    <Page title="Overview" of={project.name} actions={<Updated numbers={numbers} />}>
      {hasArrived && (
        <Notice kind="good" alert>
          The first query has arrived. From now on this page counts along.
        </Notice>
      )}
      <NumbersView
        counts={counts}
        view={view}
        setView={setView}
        numbers={numbers}
        tools={
          <>
            <CurlMenu project={project} view={view} numbers={numbers} />
            <ExportMenu project={project} view={view} numbers={numbers} />
          </>
        }
      />
    </Page>
  );
}

/** Whether the project has no queries at all. Fetched only if the range is empty. */
function useIsEmpty(counts: CountsRef, { reading }: Numbers): boolean {
  const isBlank = reading?.counts.total === 0;
  const { data } = useQuery({
    ...countsQuery(counts, ALL_TIME),
    enabled: isBlank,
    refetchInterval: ({ state }) => (state.data?.total === 0 ? firstQueryMs : false),
  });
  return isBlank && data?.total === 0;
}

/** Whether the very first query arrived while the page was open. */
function useArrival(isEmpty: boolean, refresh: () => void): boolean {
  const [wasEmpty, setWasEmpty] = useState(false);
  const onArrival = useEffectEvent(refresh);
  useEffect(() => {
    if (isEmpty) setWasEmpty(true);
    else if (wasEmpty) onArrival();
  }, [isEmpty, wasEmpty]);
  return wasEmpty && !isEmpty;
}
