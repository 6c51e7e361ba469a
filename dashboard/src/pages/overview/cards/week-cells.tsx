/** The hours of the week as a table whose cells are darker for more queries. As a table, it shows their numbers as well. */
import { useQuery } from '@tanstack/react-query';
import { CALLER_TYPES } from '../../../../../src/domain/queries/caller.js';
import { ApiError } from '../../../api/client.js';
import type { CountsRef } from '../../../api/paths.js';
import { weekHoursQuery } from '../../../api/stats.js';
import type { WeekHours } from '../../../api/types.js';
import { EmptyState } from '../../../components/feedback/empty-state.js';
import { Failure } from '../../../components/feedback/notice.js';
import { Loading, Skeleton } from '../../../components/feedback/skeleton.js';
import { Button } from '../../../components/forms/button.js';
import { bucketLabel } from '../../../format/dates.js';
import { count } from '../../../format/numbers.js';
import type { View } from '../../../navigation/view.js';
import { queriesInWords } from '../../corrections/words.js';
import './week-cells.css';

interface WeekCellsProps {
  readonly counts: CountsRef;
  readonly view: View;
  readonly setView: (change: Partial<View>) => void;
  readonly title: string;
}

export function WeekCells({ counts, view, setView, title }: WeekCellsProps) {
  const { data, error, refetch } = useQuery(weekHoursQuery(counts, view));
  if (data !== undefined) return <Cells week={data} view={view} title={title} />;
  if (error instanceof ApiError && error.status === 400)
    return (
      <EmptyState
        title="This range has too many hours"
        action={
          <Button onClick={() => setView({ choice: { period: '12-months-to-date' } })}>
            Show 12 months to date
          </Button>
        }
      >
        Choose at most 13 months.
      </EmptyState>
    );
  if (error !== null)
    return <Failure error={error} what="The hours could not be read." onRetry={() => void refetch()} />;
  return (
    <Loading what="Loading the hours">
      <Skeleton shape="chart" />
    </Loading>
  );
}

interface Cell {
  readonly name: string;
  readonly queries: number;
  /** False for hours that the range does not have. */
  readonly isThere: boolean;
}

const hours = Array.from({ length: 24 }, (_, hour) =>
  bucketLabel(`1970-01-01T${String(hour).padStart(2, '0')}:00:00Z`, 'hour'),
);

function Cells({ week, view, title }: { week: WeekHours } & Pick<WeekCellsProps, 'view' | 'title'>) {
  const types = CALLER_TYPES.filter((type) => !view.hidden.includes(type));
  const rows = week.days.map((one) => {
    const day = `${one.day.charAt(0).toUpperCase()}${one.day.slice(1, 3)}`;
    const cells = one.hours.map((cell, at): Cell => {
      const queries = types.reduce((sum, type) => sum + cell[type], 0);
      return { name: `${day}, ${hours[at]}`, queries, isThere: cell.times > 0 };
    });
    return { day, cells, times: Math.max(...one.hours.map(({ times }) => times)) };
  });
  const most = rows.flatMap(({ cells }) => cells).reduce((a, b) => (b.queries > a.queries ? b : a));
  const times = rows.map((row) => row.times);
  const [fewest, often] = [Math.min(...times), Math.max(...times)];
  return (
    <section className="week-cells" tabIndex={0} aria-label={`${title}, as a table`}>
      <table className={view.table ? 'week-numbers' : 'week-heat'}>
        <caption className="out-of-sight">{`${title}, times in ${view.zone}`}</caption>
        <thead>
          <tr>
            <td />
            {hours.map((hour) => (
              <th key={hour} scope="col">
                <span>{hour}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ day, cells }) => (
            <tr key={day}>
              <th scope="row">{day}</th>
              {cells.map(({ name, queries, isThere }) => (
                <td
                  key={name}
                  className={isThere ? `week-level-${levelOf(queries, most.queries)}` : 'week-missing'}
                  title={isThere ? `${name}: ${queriesInWords(queries)}` : `${name}: not in this range`}
                >
                  <span>{isThere ? count(queries) : '–'}</span>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <p className="week-notes">
        {most.queries === 0
          ? 'No queries in this range.'
          : `Most: ${queriesInWords(most.queries)}, ${most.name}.`}
        {most.queries > 0 && fewest < often && ` A weekday occurs ${fewest} to ${often} times in this range.`}
      </p>
    </section>
  );
}

/** 0 for nothing; from 1 for few queries to 5 for the most. */
function levelOf(queries: number, most: number): number {
  return queries === 0 ? 0 : Math.ceil((5 * queries) / most);
}
