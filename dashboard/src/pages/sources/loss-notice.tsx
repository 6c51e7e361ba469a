/** Says which keys in use expire soon, and what was refused in the last day, on the pages where people look first. */
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { ingestionQuery } from '../../api/ingestion.js';
import { Notice } from '../../components/feedback/notice.js';
import { day } from '../../format/dates.js';
import { type CurrentProject, projectPage } from '../../navigation/current-project.js';
import { refusedInWords } from './refusals.js';

/** A notice is read before everything else, so it is short. */
const shownMax = 3;
const refreshMs = 60_000;

type LossNoticeProps = CurrentProject & {
  /** Leaves out what is not about keys, or all refusals, which the page *Sources* lists. */
  readonly only?: 'keys' | 'expiring';
};

export function LossNotice({ organization, project, only }: LossNoticeProps) {
  const ingestion = ingestionQuery({ organizationId: organization.id, projectId: project.id });
  const { data } = useQuery({ ...ingestion, refetchInterval: refreshMs });
  if (data === undefined) return null;
  const expiring = data.expiringKeys.map(({ id, name, expiresAt }) => (
    <p key={id}>
      The key <strong>{name}</strong> is in use and expires on {day(expiresAt)}. What is sent with it then is
      lost: rotate it in time.{' '}
      {only !== 'keys' && <Link href={projectPage(project.id, 'keys')}>API keys</Link>}
    </p>
  ));
  const refused = data.sources.flatMap(({ kind, name, refusals }) =>
    refusals
      .filter(({ isLoss, lastAt }) => isLoss && lastAt >= data.dayFrom)
      .filter(({ reason }) => only === undefined || (only === 'keys' && reason.startsWith('key-')))
      .map((one) => (
        <p key={`${kind} ${name} ${one.reason} ${one.key}`}>
          <strong>{name}</strong> had {refusedInWords(one)} refused in the last seven days. {one.message}{' '}
          <Link href={projectPage(project.id, 'sources')}>What to do</Link>
        </p>
      )),
  );
  const all = [...expiring, ...refused];
  if (all.length === 0) return null;
  return (
    <Notice kind="warn">
      {all.slice(0, shownMax)}
      {all.length > shownMax && (
        <p>
          And {all.length - shownMax} more: <Link href={projectPage(project.id, 'sources')}>Sources</Link>
        </p>
      )}
    </Notice>
  );
}
