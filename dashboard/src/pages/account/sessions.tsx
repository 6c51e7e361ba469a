/** The user's active sessions. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { endSessions, sessionsQuery } from '../../api/people/account.js';
import type { SignedInDevice } from '../../api/types.js';
import { Entries, Entry } from '../../components/content/entries.js';
import { Section } from '../../components/content/page.js';
import { Time } from '../../components/content/time.js';
import { Badge } from '../../components/feedback/badge.js';
import { Loaded } from '../../components/feedback/loaded.js';
import { Button } from '../../components/forms/button.js';
import { FormDialog } from '../../components/overlays/form-dialog.js';
import { moment } from '../../format/dates.js';
import { browserName } from '../../format/user-agent.js';
import { getProof, PasswordField } from './proof.js';

export function Sessions() {
  const query = useQuery(sessionsQuery);
  const [ending, setEnding] = useState<SignedInDevice | 'all others' | null>(null);
  const others = query.data?.sessions.filter(({ current }) => !current) ?? [];
  return (
    <Section
      title="Sessions"
      lead="Where you are signed in. End those that you do not know, then change your password."
      actions={others.length > 0 && <Button onClick={() => setEnding('all others')}>End all others…</Button>}
    >
      <Loaded query={query} what="The sessions" rows={2}>
        {({ sessions }) => (
          <Entries label="Sessions">
            {sessions
              .toSorted((a, b) => Number(b.current) - Number(a.current))
              .map((session) => (
                <Device key={session.id} session={session} onEnd={() => setEnding(session)} />
              ))}
          </Entries>
        )}
      </Loaded>
      {ending !== null && (
        <EndDialog session={ending === 'all others' ? null : ending} onClose={() => setEnding(null)} />
      )}
    </Section>
  );
}

/** For one session, or for all others. */
function EndDialog({ session, onClose }: { session: SignedInDevice | null; onClose: () => void }) {
  const title =
    session === null ? 'End all other sessions' : `End the session of ${browserName(session.userAgent)}`;
  return (
    <FormDialog
      title={`${title}?`}
      onSend={async (data) => endSessions(session?.id ?? null, await getProof(data))}
      done={session === null ? 'All other sessions are ended' : 'The session is ended'}
      submit={session === null ? 'End all others' : 'End session'}
      kind="danger"
      onClose={onClose}
    >
      <PasswordField />
    </FormDialog>
  );
}

function Device({ session, onEnd }: { session: SignedInDevice; onEnd: () => void }) {
  const { current, address, userAgent, createdAt, expiresAt } = session;
  return (
    <Entry
      title={
        <>
          {browserName(userAgent)} {current && <Badge kind="good">This one</Badge>}
        </>
      }
      actions={
        !current && (
          <Button kind="quiet" onClick={onEnd}>
            End…
            <span className="out-of-sight"> the session of {browserName(userAgent)}</span>
          </Button>
        )
      }
    >
      {address !== null && `${address}, `}
      signed in <Time at={createdAt} />, until {moment(expiresAt)}
    </Entry>
  );
}
