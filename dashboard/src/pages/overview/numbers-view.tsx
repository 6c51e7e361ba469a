/** The numbers of a project with the toolbar that selects them, for members and for holders of a share link. */
import type { ReactNode } from 'react';
import type { CountsRef } from '../../api/paths.js';
import type { Interval, Numbers } from '../../api/types.js';
import type { Note } from '../../chart/notes.js';
import { Failure } from '../../components/feedback/notice.js';
import { Loading, Skeleton } from '../../components/feedback/skeleton.js';
import { lazyPart } from '../../navigation/lazy-code.js';
import type { View } from '../../navigation/view.js';
import { Tiles } from './cards/tiles.js';
import { TimeCard } from './cards/time-card.js';
import { Toolbar } from './toolbar/toolbar.js';
import type { Reading } from './use-reading.js';
import './overview.css';

const Announcement = lazyPart(() => import('./announcement.js'), 'Announcement');
const CallersCard = lazyPart(
  () => import('./cards/callers-card.js'),
  'CallersCard',
  <Skeleton shape="block" />,
);
const CutNotice = lazyPart(() => import('./cut-notice.js'), 'CutNotice');
const DoubtfulNotice = lazyPart(() => import('./doubtful-notice.js'), 'DoubtfulNotice');

const NO_NOTES: readonly Note[] = [];

export type Part = 'numbers' | 'chart';

interface NumbersViewProps {
  readonly counts: CountsRef;
  readonly view: View;
  readonly setView: (change: Partial<View>) => void;
  readonly reading: Reading;
  /** The part that a page embeds; all of them unless given. */
  readonly only?: Part | undefined;
  /** For members. */
  readonly notes?: readonly Note[];
  /** Undefined for those who may not correct. */
  readonly onCorrect?: (range: Numbers['range']) => void;
  /** Undefined for those who only see what counts now. */
  readonly onExplain?: (range: Numbers['range']) => void;
  /** At the end of the toolbar. */
  readonly tools?: ReactNode;
}

export function NumbersView({
  counts,
  view,
  setView,
  reading,
  only,
  notes = NO_NOTES,
  onCorrect,
  onExplain,
  tools,
}: NumbersViewProps) {
  const { numbers, trends, error, isStale, retry } = reading;
  const { doubtful = 0 } = numbers ?? {};
  return (
    <>
      {only === undefined && (
        <>
          <Toolbar view={view} setView={setView} reading={reading}>
            {tools}
          </Toolbar>
          {doubtful > 0 && <DoubtfulNotice doubtful={doubtful} />}
        </>
      )}
      {numbers !== undefined && (
        <CutNotice
          counts={counts}
          view={view}
          interval={only === 'numbers' ? null : shownInterval(view, numbers)}
          isStale={isStale}
        />
      )}
      {numbers !== undefined ? (
        <div className="overview" aria-busy={isStale || undefined}>
          {only !== 'chart' && (
            <Tiles numbers={numbers} onExplain={onExplain && (() => onExplain(numbers.range))} />
          )}
          {only !== 'numbers' && (
            <TimeCard counts={counts} view={view} setView={setView} numbers={numbers} notes={notes} />
          )}
          {only === undefined && (
            <CallersCard
              numbers={numbers}
              trends={trends}
              selected={view.caller}
              onSelect={(caller) => setView({ caller })}
              onCorrect={onCorrect && (() => onCorrect(numbers.range))}
            />
          )}
        </div>
      ) : error !== null ? (
        <Failure error={error} what="The numbers could not be read." onRetry={retry} />
      ) : (
        <Loading what="Loading the numbers">
          <Skeleton shape="block" />
          <Skeleton shape="chart" />
        </Loading>
      )}
      <Announcement view={view} reading={reading} />
    </>
  );
}

function shownInterval(view: View, { interval }: Numbers): Interval {
  return view.week ? 'hour' : interval;
}
