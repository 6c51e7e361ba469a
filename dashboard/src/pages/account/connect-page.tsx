/** Asks whether an application, such as a chat assistant, may read counts in the user's name. */
import { useQuery } from '@tanstack/react-query';
import { useSearch } from 'wouter';
import { answerApplication, lookUpApplication } from '../../api/people/account.js';
import { useUser } from '../../api/session.js';
import type { AskedApplication } from '../../api/types.js';
import { Page } from '../../components/content/page.js';
import { Loaded } from '../../components/feedback/loaded.js';
import { Button } from '../../components/forms/button.js';
import { useAction } from '../../components/forms/use-action.js';

export function ConnectPage() {
  const search = useSearch();
  const query = useQuery({
    queryKey: ['application', search],
    queryFn: () => lookUpApplication(search),
    gcTime: 0,
    retry: false,
  });
  return (
    <Page title="Connect an application" isNarrow>
      <Loaded query={query} what="The application" rows={1}>
        {(asked) => <Question asked={asked} query={search} />}
      </Loaded>
    </Page>
  );
}

function Question({
  asked: { name, returnsTo, redirect },
  query,
}: {
  asked: AskedApplication;
  query: string;
}) {
  const user = useUser();
  const { run, isBusy } = useAction();
  const answer = (allow: boolean): void =>
    run(async () => location.assign((await answerApplication(query, allow)).redirect));
  // Anybody can register an application, so the browser does not follow its address by itself (RFC 9700, section 4.11.2).
  if (redirect !== null)
    return (
      <>
        <p>The request of {name} is invalid, so it cannot be connected. It learns why when you return.</p>
        <Button kind="plain" onClick={() => location.assign(redirect)}>
          Return to {returnsTo}
        </Button>
      </>
    );
  return (
    <>
      <p>
        <strong>{name}</strong> wants to read the counts of your projects as {user.email}. It can change
        nothing, and sees no question and no answer, because none is stored. It may do so for at most a year,
        or until you disconnect it on your account page.
      </p>
      <p className="quiet">
        Then you return to <strong>{returnsTo}</strong>. Allow it only if you have just connected it there:
        anybody can choose a name.
      </p>
      <div className="row">
        <Button kind="primary" busy={isBusy} onClick={() => answer(true)}>
          Allow
        </Button>
        <Button kind="plain" busy={isBusy} onClick={() => answer(false)}>
          Do not allow
        </Button>
      </div>
    </>
  );
}
