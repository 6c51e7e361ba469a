/** Starts the app. */
import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode, startTransition } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { Router } from 'wouter';
import { getQuery } from './api/client.js';
import { projectsQuery } from './api/projects.js';
import { queryClient } from './api/query-client.js';
import { sessionQuery } from './api/session.js';
import type { Projects } from './api/types.js';
import { App } from './app.js';
import { isPublic, overviewPaths } from './first-requests.js';
import { basePath, withoutBasePath } from './navigation/base-path.js';
import { watchForTokens } from './navigation/token.js';
import { preloadPage } from './pages.js';
import { followOtherTabs } from './preferences/theme.js';
import './styles/tokens.css';
import './styles/base.css';
import './styles/print.css';

/** If the responses for the first view take longer, the page shows its outline first. */
const patienceMs = 100;

watchForTokens();
followOtherTabs();
preloadPage(withoutBasePath(location.pathname));

/** Fills the cache with what the first view shows, so that it is complete when it is first rendered. */
async function cacheFirstView(): Promise<void> {
  await queryClient.prefetchQuery(sessionQuery);
  const session = queryClient.getQueryData(sessionQuery.queryKey);
  if (session === undefined) return;
  const open = session.organizations.filter(({ locked }) => !locked);
  await Promise.all(open.map(({ id }) => queryClient.prefetchQuery(projectsQuery(id))));
  const projects: Record<string, Projects> = {};
  for (const { id } of open) {
    const list = queryClient.getQueryData(projectsQuery(id).queryKey);
    if (list !== undefined) projects[id] = list;
  }
  const paths = overviewPaths({ session, projects }, location);
  await Promise.all(paths.map((path) => queryClient.prefetchQuery(getQuery(path))));
}

async function start(): Promise<void> {
  const root = document.getElementById('root');
  if (root === null) throw new Error('index.html has no element for the dashboard');
  if (!isPublic(location))
    await Promise.race([cacheFirstView(), new Promise<void>((resolve) => setTimeout(resolve, patienceMs))]);
  const app = createRoot(root);
  forgetWhenLeft(app);
  // A transition renders in small steps, so that a slow phone reacts meanwhile.
  startTransition(() =>
    app.render(
      <StrictMode>
        <QueryClientProvider client={queryClient}>
          <Router base={basePath}>
            <App />
          </Router>
        </QueryClientProvider>
      </StrictMode>,
    ),
  );
}

/** Browsers keep a page that was left for their Back button, and show it also after its user has signed out. */
function forgetWhenLeft(app: Root): void {
  addEventListener('pagehide', () => {
    app.unmount();
    queryClient.clear();
  });
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) location.reload();
  });
}

void start();
