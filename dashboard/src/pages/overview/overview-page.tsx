/** The overview of a project. */
import { useQuery } from '@tanstack/react-query';
import { Suspense, useEffect, useEffectEvent, useState } from 'react';
import { useSearch } from 'wouter';
import { ALL_TIME, countsQuery } from '../../api/stats.js';
import { Page } from '../../components/content/page.js';
import { Failure, Notice } from '../../components/feedback/notice.js';
import { Loading, Skeleton } from '../../components/feedback/skeleton.js';
import type { CurrentProject } from '../../navigation/current-project.js';
import { readChoice } from '../../navigation/view.js';
import { type Choice, DEFAULT_CHOICE } from '../../time/range.js';
import { Announcement } from './announcement.js';
import { Landing } from './landing.js';
import { Tiles } from './tiles.js';
import { TimeCard } from './time-card.js';
import { Toolbar } from './toolbar/toolbar.js';
import { Updated } from './updated.js';
import { type Numbers, useNumbers } from './use-numbers.js';
import { defaultZone, useView } from './use-view.js';
import './overview.css';
import { lazyCode } from '../../navigation/lazy-code.js';

const CallersCard = lazyCode(() => import('./callers-card.js').then((module) => module.CallersCard));
const CutNotice = lazyCode(() => import('./cut-notice.js').then((module) => module.CutNotice));
const FirstQuery = lazyCode(() => import('./first-query.js').then((module) => module.FirstQuery));

/** Poll interval while a project has no queries. */
const firstQueryMs = 3_000;

export function OverviewPage(current: CurrentProject) {
  const query = useSearch();
  const [usual, setUsual] = useState(() =>
    readChoice(new URLSearchParams(query), defaultZone(current.project)) === null ? null : DEFAULT_CHOICE,
  );
  return usual === null ? (
    <Landing {...current} query={query} onChoice={setUsual} />
  ) : (
    <Overview {...current} usual={usual} />
  );
}

/** `usual`: the range if the URL names none. */
function Overview({ usual, ...current }: CurrentProject & { readonly usual: Choice }) {
  const { organization, project } = current;
  const ids = { organizationId: organization.id, projectId: project.id };
  const [view, setView] = useView(project, usual);
  const numbers = useNumbers(ids, view);
  const isEmpty = useIsEmpty(ids, numbers);
  const hasArrived = useArrival(isEmpty, numbers.retry);

  if (isEmpty)
    return (
      <Page title="Overview" of={project.name} lead="Nothing was recorded in this project yet.">
        <Suspense>
          <FirstQuery {...current} />
        </Suspense>
      </Page>
    );
  return (
    <Page title="Overview" of={project.name} actions={<Updated numbers={numbers} />}>
      {hasArrived && (
        <Notice kind="good" alert>
          The first query has arrived. From now on this page counts along.
        </Notice>
      )}
      <Toolbar current={current} view={view} setView={setView} numbers={numbers} />
      <Suspense>
        <CutNotice ids={ids} range={numbers.range} zone={view.zone} />
      </Suspense>
      {numbers.error !== null && numbers.reading === undefined ? (
        <Failure error={numbers.error} what="The numbers could not be read." onRetry={numbers.retry} />
      ) : (
        <Cards view={view} setView={setView} numbers={numbers} />
      )}
      <Announcement view={view} numbers={numbers} />
    </Page>
  );
}

type CardsProps = {
  readonly view: ReturnType<typeof useView>[0];
  readonly setView: ReturnType<typeof useView>[1];
  readonly numbers: Numbers;
};

function Cards({ view, setView, numbers }: CardsProps) {
  const { reading, before, compared } = numbers;
  if (reading === undefined)
    return (
      <Loading what="Loading the numbers">
        <Skeleton shape="block" />
        <Skeleton shape="chart" />
      </Loading>
    );
  return (
    <div className="overview" aria-busy={numbers.isStale || undefined}>
      <Tiles
        counts={reading.counts}
        before={before.counts && compared ? { counts: before.counts, name: compared.name } : undefined}
      />
      <TimeCard view={view} setView={setView} numbers={numbers} />
      <Suspense fallback={<Skeleton shape="block" />}>
        <CallersCard
          callers={reading.callers}
          trends={numbers.trends}
          selected={view.caller}
          onSelect={(caller) => setView({ caller })}
        />
      </Suspense>
    </div>
  );
}

/** Whether the project has no queries at all. Fetched only if the range is empty. */
function useIsEmpty(ids: { organizationId: string; projectId: string }, { reading }: Numbers): boolean {
  const isBlank = reading?.counts.total === 0;
  const { data } = useQuery({
    ...countsQuery(ids, ALL_TIME),
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
