/** The routes of signed-in users, in the layout. */
import { Route, Switch } from 'wouter';
import { NotFoundPage } from '../pages/not-found-page.js';
import { MEMBER_PAGES, PROJECT_PAGES } from '../pages.js';
import { AppLayout } from './app-layout.js';
import { PageBoundary } from './page-boundary.js';
import { ProjectRoute } from './project-route.js';

export function SignedIn() {
  return (
    <AppLayout>
      <PageBoundary>
        <Switch>
          {PROJECT_PAGES.map(({ path, Page }) => (
            <Route key={path} path={path}>
              <ProjectRoute page={Page} />
            </Route>
          ))}
          {MEMBER_PAGES.map(({ path, Page }) => (
            <Route key={path} path={path} component={Page} />
          ))}
          <Route>
            <NotFoundPage />
          </Route>
        </Switch>
      </PageBoundary>
    </AppLayout>
  );
}
