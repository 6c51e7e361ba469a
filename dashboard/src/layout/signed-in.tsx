/** The routes of signed-in users, in the layout. */
import { Route, Switch } from 'wouter';
import { NotFoundPage } from '../pages/not-found-page.js';
import { StartPage } from '../pages/start-page.js';
import * as Pages from '../pages.js';
import { AppLayout } from './app-layout.js';
import { PageBoundary } from './page-boundary.js';
import { ProjectRoute } from './project-route.js';

export function SignedIn() {
  return (
    <AppLayout>
      <PageBoundary>
        <Switch>
          <Route path="/" component={StartPage} />
          <Route path="/projects/:id">{({ id }) => <ProjectRoute id={id} page={Pages.OverviewPage} />}</Route>
          <Route path="/projects/:id/keys">
            {({ id }) => <ProjectRoute id={id} page={Pages.KeysPage} />}
          </Route>
          <Route path="/projects/:id/sources">
            {({ id }) => <ProjectRoute id={id} page={Pages.SourcesPage} />}
          </Route>
          <Route path="/projects/:id/settings">
            {({ id }) => <ProjectRoute id={id} page={Pages.SettingsPage} />}
          </Route>
          <Route path="/projects" component={Pages.ProjectsPage} />
          <Route path="/new-project" component={Pages.NewProjectPage} />
          <Route path="/members" component={Pages.MembersPage} />
          <Route path="/audit" component={Pages.AuditPage} />
          <Route path="/account" component={Pages.AccountPage} />
          <Route>
            <NotFoundPage />
          </Route>
        </Switch>
      </PageBoundary>
    </AppLayout>
  );
}
