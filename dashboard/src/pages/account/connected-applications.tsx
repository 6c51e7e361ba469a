/** The applications that read counts in the user's name. */
import { useQuery } from '@tanstack/react-query';
import { applicationsQuery, disconnectApplication } from '../../api/people/account.js';
import { Entries, Entry } from '../../components/content/entries.js';
import { Section } from '../../components/content/page.js';
import { Time } from '../../components/content/time.js';
import { Loaded } from '../../components/feedback/loaded.js';
import { Button } from '../../components/forms/button.js';
import { useAction } from '../../components/forms/use-action.js';

export function ConnectedApplications() {
  const query = useQuery(applicationsQuery);
  const { run, isBusy } = useAction();
  return (
    <Section
      title="Connected applications"
      lead="They read the counts that you may read. 90 days without use, a year, a new password, or a new second factor ends a connection."
    >
      <Loaded query={query} what="The connected applications" rows={1}>
        {({ applications }) =>
          applications.length === 0 ? (
            <p className="quiet">There are none.</p>
          ) : (
            <Entries label="Connected applications">
              {applications.map(({ id, name, address, usedAt }) => (
                <Entry
                  key={id}
                  title={name}
                  actions={
                    <Button
                      kind="quiet"
                      busy={isBusy}
                      onClick={() => run(() => disconnectApplication(id), 'The application is disconnected')}
                    >
                      Disconnect
                      <span className="out-of-sight"> {name}</span>
                    </Button>
                  }
                >
                  {address !== null && `connected from ${address}, `}
                  last renewed <Time at={usedAt} />
                </Entry>
              ))}
            </Entries>
          )
        }
      </Loaded>
    </Section>
  );
}
