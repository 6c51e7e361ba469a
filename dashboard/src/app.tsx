/** Which page is shown where, and to whom. */
import { Suspense } from 'react';
import { Redirect, Route, Switch, useLocation, useSearch } from 'wouter';
import { useSession, useSessionQuery } from './api/session.js';
import { SignFrame } from './frame/sign-frame.js';
import { SignedIn } from './frame/signed-in.js';
import * as Pages from './pages.js';
import { Failure } from './parts/notice.js';
import { Loading, Skeleton } from './parts/skeleton.js';
import { Toasts } from './parts/toasts.js';
import { signInFor } from './state/destination.js';

export function App() {
  const { data, error, refetch } = useSessionQuery();
  if (data !== undefined)
    return (
      <>
        <Routes />
        <Toasts />
      </>
    );
  return (
    <SignFrame>
      {error === null ? (
        <div className="sign-waiting">
          <Loading what="Loading">
            <Skeleton shape="title" />
            <Skeleton shape="row" />
          </Loading>
        </div>
      ) : (
        <Failure error={error} what="The dashboard could not be loaded." onRetry={() => void refetch()} />
      )}
    </SignFrame>
  );
}

function Routes() {
  return (
    <Suspense fallback={<SignFrame>{null}</SignFrame>}>
      <Switch>
        <Route path="/sign-in" component={Pages.SignInPage} />
        <Route path="/set-up" component={Pages.SetUpPage} />
        <Route path="/join" component={Pages.JoinPage} />
        <Route path="/reset" component={Pages.ResetPage} />
        <Route>
          <Inside />
        </Route>
      </Switch>
    </Suspense>
  );
}

/** Everything that only somebody who is signed in sees; anybody else is sent to the sign-in page, and comes back. */
function Inside() {
  const { user, setUp } = useSession();
  const [path] = useLocation();
  const query = useSearch();
  if (user !== null) return <SignedIn />;
  return setUp ? <Pages.SetUpNeededPage /> : <Redirect to={signInFor(path, query)} replace />;
}
