/** The layout of every page behind sign-in: navigation, project switcher and keyboard shortcuts. */
import { Menu as MenuIcon } from 'lucide-react';
import { type ReactNode, useEffect, useState, useSyncExternalStore } from 'react';
import { useLocation, useRoute } from 'wouter';
import type { Organization, Project } from '../api/types.js';
import { toast } from '../components/feedback/toasts.js';
import { IconButton } from '../components/forms/button.js';
import { usePopover } from '../components/overlays/use-popover.js';
import {
  type ProjectPageName,
  projectPage,
  useFirstProject,
  useOrganization,
  useProject,
} from '../navigation/current-project.js';
import { lazyPart, preloadLater } from '../navigation/lazy-code.js';
import { toggleTheme } from '../preferences/theme.js';
import { ConnectionNotice } from './connection-notice.js';
import { AccountMenu } from './header/account-menu.js';
import { Navigation } from './header/navigation.js';
import { ProjectSwitcher } from './header/project-switcher.js';
import { PageFooter } from './page-footer.js';
import { useShortcut, useShortcutKeys } from './use-shortcuts.js';
import '../components/overlays/popover.css';
import './app-layout.css';

const ShortcutsDialog = lazyPart(() => import('./shortcuts-dialog.js'), 'ShortcutsDialog');

export function AppLayout({ children }: { children: ReactNode }) {
  useEffect(preloadLater, []);
  const isWide = useWide();
  const [isHelpOpen, setHelpOpen] = useState(false);
  const current = useCurrent();
  useShortcutKeys();
  useNavigationShortcuts(current.projectId);
  useShortcut('help', () => setHelpOpen(true));
  useShortcut('theme', () => toast(toggleTheme() === 'dark' ? 'Dark' : 'Light'));

  const barProps = { ...current, onShortcuts: () => setHelpOpen(true) };
  return (
    <div className="frame">
      <a className="skip" href="#main">
        Skip to the page
      </a>
      {isWide ? <Sidebar {...barProps} /> : <Topbar {...barProps} />}
      <main id="main" className="main" tabIndex={-1}>
        <ConnectionNotice />
        {children}
      </main>
      <PageFooter />
      {isHelpOpen && <ShortcutsDialog onClose={() => setHelpOpen(false)} />}
    </div>
  );
}

interface BarProps extends Current {
  readonly onShortcuts: () => void;
}

function Sidebar({ organization, project, projectId, onShortcuts }: BarProps) {
  return (
    <header className="sidebar">
      <ProjectSwitcher organization={organization} project={project} />
      <Navigation organization={organization} projectId={projectId} />
      <div className="sidebar-foot">
        <AccountMenu onShortcuts={onShortcuts} isCompact={false} />
      </div>
    </header>
  );
}

function Topbar({ organization, project, projectId, onShortcuts }: BarProps) {
  const popover = usePopover({
    align: 'end',
    focus: (panel) => panel.querySelector('a'),
  });
  return (
    <header className="topbar">
      <ProjectSwitcher organization={organization} project={project} />
      <AccountMenu onShortcuts={onShortcuts} isCompact />
      <IconButton {...popover.triggerProps} icon={MenuIcon} label="Pages" />
      <div {...popover.panelProps} className="popover navigation-panel">
        {popover.isOpen && (
          <Navigation organization={organization} projectId={projectId} onGo={popover.close} />
        )}
      </div>
    </header>
  );
}

interface Current {
  readonly organization: Organization | null;
  readonly project: Project | null;
  /** From the URL, so it is known before the project has loaded. */
  readonly projectId: string | null;
}

/** The project of the page, or the last one visited for pages without a project. */
function useCurrent(): Current {
  const [, params] = useRoute('/projects/:id/*?');
  const usual = useOrganization();
  const { found, isLoading } = useProject(params?.id ?? '');
  const first = useFirstProject(usual);
  if (found !== null) return { ...found, projectId: found.project.id };
  const usualId = isLoading ? (params?.id ?? null) : (first.found?.id ?? null);
  return { organization: usual, project: first.found, projectId: usualId };
}

function useNavigationShortcuts(projectId: string | null): void {
  const [, navigate] = useLocation();
  const toProject = (page?: ProjectPageName) => (): void => {
    if (projectId !== null) navigate(projectPage(projectId, page));
  };
  useShortcut('overview', toProject());
  useShortcut('keys', toProject('keys'));
  useShortcut('sources', toProject('sources'));
  useShortcut('corrections', toProject('corrections'));
  useShortcut('settings', toProject('settings'));
  useShortcut('members', () => navigate('/members'));
  useShortcut('audit', () => navigate('/audit'));
  useShortcut('account', () => navigate('/account'));
}

/** Media query for showing the navigation beside the page; `app-layout.css` uses the same width. */
const wideQuery = '(min-width: 60rem)';

function useWide(): boolean {
  return useSyncExternalStore(
    (listener) => {
      const media = matchMedia(wideQuery);
      media.addEventListener('change', listener);
      return () => media.removeEventListener('change', listener);
    },
    () => matchMedia(wideQuery).matches,
  );
}
