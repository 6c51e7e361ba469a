/** Starts the app. */
import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode, startTransition } from 'react';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';
import { queryClient } from './api/query-client.js';
import { App } from './app.js';
import { cacheFirstData } from './first-data.js';
import { isPublic } from './first-requests.js';
import { basePath, withoutBasePath } from './navigation/base-path.js';
import { watchForTokens } from './navigation/token.js';
import { preloadPage } from './pages.js';
import { followOtherTabs } from './preferences/theme.js';
import './styles/tokens.css';
import './styles/base.css';
import './styles/print.css';

watchForTokens();
followOtherTabs();
preloadPage(withoutBasePath(location.pathname));

async function start(): Promise<void> {
  const root = document.getElementById('root');
  if (root === null) throw new Error('index.html has no element for the dashboard');
  if (!isPublic(location)) await cacheFirstData();
  // A transition renders in small steps, so that a slow phone reacts meanwhile.
  startTransition(() =>
    createRoot(root).render(
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

void start();
