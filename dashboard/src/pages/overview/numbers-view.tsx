/** The numbers of a project with the toolbar that selects them, for members and for holders of a share link. */
import type { ReactNode } from 'react';
import type { CountsRef } from '../../api/stats.js';
import { Failure } from '../../components/feedback/notice.js';
import { Loading, Skeleton } from '../../components/feedback/skeleton.js';
import { lazyPart } from '../../navigation/lazy-code.js';
import type { View } from '../../navigation/view.js';
import { Tiles } from './cards/tiles.js';
import { TimeCard } from './cards/time-card.js';
import { Toolbar } from './toolbar/toolbar.js';
import type { Numbers } from './use-numbers.js';
import './overview.css';

const Announcement = lazyPart(() => import('./announcement.js'), 'Announcement');
const CallersCard = lazyPart(
  () => import('./cards/callers-card.js'),
  'CallersCard',
  <Skeleton shape="block" />,
);
const CutNotice = lazyPart(() => import('./cut-notice.js'), 'CutNotice');

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
      <CutNotice counts={counts} range={numbers.range} zone={view.zone} />
      {numbers.error !== null && numbers.reading === undefined ? (
        <Failure error={numbers.error} what="The numbers could not be read." onRetry={numbers.retry} />
      ) : (
        <Cards view={view} setView={setView} numbers={numbers} />
      )}
      <Announcement view={view} numbers={numbers} />
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
      <CallersCard
        callers={reading.callers}
        trends={numbers.trends}
        selected={view.caller}
        onSelect={(caller) => setView({ caller })}
      />
    </div>
  );
}
