/** The entry point of the dashboard. */
import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';
import { queryClient } from './api/query-client.js';
import { App } from './app.js';
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

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no element for the dashboard');
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <Router base={basePath}>
        <App />
      </Router>
    </QueryClientProvider>
  </StrictMode>,
);
