/** The user's active sessions. */
import { useQuery } from '@tanstack/react-query';
import { endOtherSessions, endSession, sessionsQuery } from '../../api/account.js';
import { queryClient } from '../../api/query-client.js';
import type { SignedInDevice } from '../../api/types.js';
import { Section } from '../../components/content/page.js';
import { Time } from '../../components/content/time.js';
import { Badge } from '../../components/feedback/badge.js';
import { Failure } from '../../components/feedback/notice.js';
import { LoadingRows } from '../../components/feedback/skeleton.js';
import { Button } from '../../components/forms/button.js';
import { useAction } from '../../components/forms/use-action.js';
import { moment } from '../../format/dates.js';
import { browserName } from '../../format/user-agent.js';
import { browserZone } from '../../time/zone.js';

export function Sessions() {
  const { data, error, refetch } = useQuery(sessionsQuery);
  const { run, isBusy } = useAction();
  const others = data?.sessions.filter(({ current }) => !current) ?? [];
  const end = (work: () => Promise<void>, done: string): void =>
    run(async () => {
      await work();
      await queryClient.invalidateQueries(sessionsQuery);
    }, done);
  return (
    <Section
      title="Sessions"
      lead="Where you are signed in. End those that you do not know, then change your password."
      actions={
        others.length > 0 && (
          <Button busy={isBusy} onClick={() => end(endOtherSessions, 'All other sessions are ended')}>
            End all others
          </Button>
        )
      }
    >
      {data === undefined && error === null && <LoadingRows what="Loading the sessions" rows={2} />}
      {data === undefined && error !== null && (
        <Failure error={error} what="The sessions could not be read." onRetry={() => void refetch()} />
      )}
      {data !== undefined && (
        <ul className="card">
          {data.sessions
            .toSorted((a, b) => Number(b.current) - Number(a.current))
            .map((session) => (
              <li key={session.id} className="session">
                <Device session={session} />
                {!session.current && (
                  <Button
                    kind="quiet"
                    onClick={() => end(() => endSession(session.id), 'The session is ended')}
                  >
                    End
                    <span className="out-of-sight"> the session of {browserName(session.userAgent)}</span>
                  </Button>
                )}
              </li>
            ))}
        </ul>
      )}
    </Section>
  );
}

function Device({
  session: { current, address, userAgent, createdAt, expiresAt },
}: {
  session: SignedInDevice;
}) {
  return (
    <div>
      <p className="session-name">
        {browserName(userAgent)} {current && <Badge kind="good">This one</Badge>}
      </p>
      <p className="quiet small numbers">
        {address !== null && `${address}, `}
        signed in <Time at={createdAt} />, until {moment(Date.parse(expiresAt), browserZone())}
      </p>
    </div>
  );
}
