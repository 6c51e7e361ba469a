/** The browsers in which the user needs no second factor to sign in. */
import { useQuery } from '@tanstack/react-query';
import { forgetTrustedDevice, trustedDevicesQuery } from '../../api/people/account.js';
import { queryClient } from '../../api/query-client.js';
import { Entries, Entry } from '../../components/content/entries.js';
import { Section } from '../../components/content/page.js';
import { Time } from '../../components/content/time.js';
import { Loaded } from '../../components/feedback/loaded.js';
import { Button } from '../../components/forms/button.js';
import { useAction } from '../../components/forms/use-action.js';
import { moment } from '../../format/dates.js';
import { browserName } from '../../format/user-agent.js';

export function TrustedDevices() {
  const query = useQuery(trustedDevicesQuery);
  const { run, isBusy } = useAction();
  const forget = (id: string): void =>
    run(async () => {
      await forgetTrustedDevice(id);
      await queryClient.invalidateQueries(trustedDevicesQuery);
    }, 'The device is not trusted any more');
  return (
    <Section
      title="Trusted devices"
      lead="They need no second factor for 30 days after each sign-in. A new password, passkey or authenticator app ends that for all of them."
    >
      <Loaded query={query} what="The trusted devices" rows={1}>
        {({ devices }) =>
          devices.length === 0 ? (
            <p className="quiet">There are none.</p>
          ) : (
            <Entries label="Trusted devices">
              {devices.map(({ id, address, userAgent, usedAt, expiresAt }) => (
                <Entry
                  key={id}
                  title={browserName(userAgent)}
                  actions={
                    <Button kind="quiet" busy={isBusy} onClick={() => forget(id)}>
                      Stop trusting
                      <span className="out-of-sight"> {browserName(userAgent)}</span>
                    </Button>
                  }
                >
                  {address !== null && `${address}, `}
                  last signed in <Time at={usedAt} />, until {moment(expiresAt)}
                </Entry>
              ))}
            </Entries>
          )
        }
      </Loaded>
    </Section>
  );
}
