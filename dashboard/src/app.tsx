/** Which page is shown where, and to whom. */
import { Suspense } from 'react';
import { Redirect, Route, Switch, useLocation, useSearch } from 'wouter';
import { useSession, useSessionQuery } from './api/session.js';
import { Frame } from './frame/frame.js';
import { PageBoundary } from './frame/page-boundary.js';
import { ProjectRoute } from './frame/project-route.js';
import { SignFrame } from './frame/sign-frame.js';
import { NotFoundPage } from './pages/not-found-page.js';
import { StartPage } from './pages/start-page.js';
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
        <Loading what="Loading">
          <Skeleton shape="title" />
          <Skeleton shape="row" />
        </Loading>
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
          <SignedInRoutes />
        </Route>
      </Switch>
    </Suspense>
  );
}

/** Everything that only somebody who is signed in sees; anybody else is sent to the sign-in page, and comes back. */
function SignedInRoutes() {
  const { user, setUp } = useSession();
  const [path] = useLocation();
  const query = useSearch();
  if (user === null) return setUp ? <StartPage /> : <Redirect to={signInFor(path, query)} replace />;
  return (
    <Frame>
      <PageBoundary>
        <Switch>
          <Route path="/" component={StartPage} />
          <Route path="/projects/:id">{({ id }) => <ProjectRoute id={id} page={Pages.OverviewPage} />}</Route>
          <Route path="/projects/:id/keys">
            {({ id }) => <ProjectRoute id={id} page={Pages.KeysPage} />}
          </Route>
          <Route path="/projects/:id/settings">
            {({ id }) => <ProjectRoute id={id} page={Pages.SettingsPage} />}
          </Route>
          <Route path="/new-project" component={Pages.NewProjectPage} />
          <Route path="/members" component={Pages.MembersPage} />
          <Route path="/audit" component={Pages.AuditPage} />
          <Route path="/account" component={Pages.AccountPage} />
          <Route>
            <NotFoundPage />
          </Route>
        </Switch>
      </PageBoundary>
    </Frame>
  );
}
