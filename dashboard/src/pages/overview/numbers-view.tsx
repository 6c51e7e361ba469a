/** The numbers of a project with the toolbar that selects them, for members and for holders of a share link. */
import { type ReactNode, Suspense } from 'react';
import type { CountsRef } from '../../api/stats.js';
import { Failure } from '../../components/feedback/notice.js';
import { Loading, Skeleton } from '../../components/feedback/skeleton.js';
import { lazyCode } from '../../navigation/lazy-code.js';
import type { View } from '../../navigation/view.js';
import { Tiles } from './cards/tiles.js';
import { TimeCard } from './cards/time-card.js';
import { Toolbar } from './toolbar/toolbar.js';
import type { Numbers } from './use-numbers.js';
import './overview.css';

const Announcement = lazyCode(() => import('./announcement.js').then((module) => module.Announcement));
const CallersCard = lazyCode(() => import('./cards/callers-card.js').then((module) => module.CallersCard));
const CutNotice = lazyCode(() => import('./cut-notice.js').then((module) => module.CutNotice));

interface NumbersViewProps {
  readonly counts: CountsRef;
  readonly view: View;
  readonly setView: (change: Partial<View>) => void;
  readonly numbers: Numbers;
  /** At the end of the toolbar. */
  readonly tools?: ReactNode;
}

export function NumbersView({ counts, view, setView, numbers, tools }: NumbersViewProps) {
  return (
    <>
      <Toolbar view={view} setView={setView} numbers={numbers}>
        {tools}
      </Toolbar>
      <Suspense>
        <CutNotice counts={counts} range={numbers.range} zone={view.zone} />
      </Suspense>
      {numbers.error !== null && numbers.reading === undefined ? (
        <Failure error={numbers.error} what="The numbers could not be read." onRetry={numbers.retry} />
      ) : (
        <Cards view={view} setView={setView} numbers={numbers} />
      )}
      <Suspense>
        <Announcement view={view} numbers={numbers} />
      </Suspense>
    </>
  );
}

function Cards({ view, setView, numbers }: Omit<NumbersViewProps, 'counts'>) {
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
