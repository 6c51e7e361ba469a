/** The routes, and who may see them. */
import { Suspense } from 'react';
import { Redirect, Route, Switch, useLocation, useSearch } from 'wouter';
import { useSession, useSessionQuery } from './api/session.js';
import { Failure } from './components/feedback/notice.js';
import { Loading, Skeleton } from './components/feedback/skeleton.js';
import { Toasts } from './components/feedback/toasts.js';
import { SignInLayout } from './layout/sign-in-layout.js';
import { SignedIn } from './layout/signed-in.js';
import { signInFor } from './navigation/destination.js';
import { NotFoundPage } from './pages/not-found-page.js';
import { GUEST_PAGES, isPage, OPEN_PAGES, SecondFactorNeededPage, SetUpNeededPage } from './pages.js';

export function App() {
  return (
    <Switch>
      {OPEN_PAGES.map(({ path, Page }) => (
        <Route key={path} path={path}>
          <Suspense>
            <Page />
          </Suspense>
          <Toasts />
        </Route>
      ))}
      <Route>
        <Dashboard />
      </Route>
    </Switch>
  );
}

/** All pages that depend on who is signed in. */
function Dashboard() {
  const { data, error, refetch } = useSessionQuery();
  if (data !== undefined)
    return (
      <>
        <Routes />
        <Toasts />
      </>
    );
  return (
    <SignInLayout>
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
    </SignInLayout>
  );
}

function Routes() {
  return (
    <Suspense fallback={<SignInLayout>{null}</SignInLayout>}>
      <Switch>
        {GUEST_PAGES.map(({ path, Page }) => (
          <Route key={path} path={path} component={Page} />
        ))}
        <Route>
          <Inside />
        </Route>
      </Switch>
    </Suspense>
  );
}

/** Pages that require a session; other visitors go to the sign-in page and return afterwards. */
function Inside() {
  const { user, setUp, organizations } = useSession();
  const isLocked = organizations.some(({ locked }) => locked);
  const [path] = useLocation();
  const query = useSearch();
  if (user !== null) return isLocked ? <SecondFactorNeededPage /> : <SignedIn />;
  if (!isPage(path))
    return (
      <SignInLayout>
        <NotFoundPage />
      </SignInLayout>
    );
  return setUp ? <SetUpNeededPage /> : <Redirect to={signInFor(path, query)} replace />;
}
