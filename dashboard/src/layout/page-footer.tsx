/** Links to the documentation and the API, below every page. */
import { useSessionQuery } from '../api/session.js';
import { DocsLink } from '../components/content/docs-link.js';
import './page-footer.css';

export function PageFooter() {
  // Only signed-in users learn the version.
  const version = useSessionQuery().data?.version;
  return (
    <footer className="page-footer">
      <nav aria-label="Documentation">
        <DocsLink page="">Documentation</DocsLink>
        <DocsLink page="try">API</DocsLink>
      </nav>
      {version !== undefined && <DocsLink page="changelog">caller-stats {version}</DocsLink>}
    </footer>
  );
}
