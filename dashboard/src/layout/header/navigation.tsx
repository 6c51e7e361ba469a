/** The navigation links. */

import {
  ChartColumnStacked,
  Cog,
  Inbox,
  KeyRound,
  LayoutGrid,
  type LucideIcon,
  PencilLine,
  ScrollText,
  Users,
} from 'lucide-react';
import { Link, useLocation } from 'wouter';
import { roleAllows } from '../../../../src/domain/people/member.js';
import type { Organization } from '../../api/types.js';
import { projectPage, useHasSeveralProjects } from '../../navigation/current-project.js';
import { lastQuery } from '../../navigation/last-view.js';
import { preloadPage } from '../../pages.js';
import { OrganizationName } from './organization-name.js';

interface NavigationProps {
  readonly organization: Organization | null;
  readonly projectId: string | null;
  /** Called when the user selects a page. */
  readonly onGo?: () => void;
}

export function Navigation({ organization, projectId, onGo }: NavigationProps) {
  const go = onGo === undefined ? {} : { onGo };
  // A reader may not open the other pages.
  const seesAll = organization === null || roleAllows(organization.role, 'viewer');
  const hasSeveral = useHasSeveralProjects(organization);
  return (
    <nav className="navigation" aria-label="Pages">
      {projectId !== null && (
        <div className="navigation-group">
          <NavigationLink
            to={projectPage(projectId)}
            query={lastQuery(projectId)}
            icon={ChartColumnStacked}
            name="Overview"
            {...go}
          />
          {seesAll && (
            <NavigationLink to={projectPage(projectId, 'keys')} icon={KeyRound} name="API keys" {...go} />
          )}
          <NavigationLink to={projectPage(projectId, 'sources')} icon={Inbox} name="Sources" {...go} />
          <NavigationLink
            to={projectPage(projectId, 'corrections')}
            icon={PencilLine}
            name="Corrections"
            {...go}
          />
          {seesAll && (
            <NavigationLink to={projectPage(projectId, 'settings')} icon={Cog} name="Settings" {...go} />
          )}
        </div>
      )}
      {organization !== null && (
        <div className="navigation-group">
          <OrganizationName organization={organization} />
          {hasSeveral && <NavigationLink to="/projects" icon={LayoutGrid} name="All projects" {...go} />}
          {seesAll && <NavigationLink to="/members" icon={Users} name="Members" {...go} />}
          {seesAll && <NavigationLink to="/audit" icon={ScrollText} name="Audit log" {...go} />}
        </div>
      )}
    </nav>
  );
}

interface LinkProps {
  readonly to: string;
  readonly query?: string;
  readonly icon: LucideIcon;
  readonly name: string;
  readonly onGo?: () => void;
}

function NavigationLink({ to, query = '', icon: Icon, name, onGo }: LinkProps) {
  const [path] = useLocation();
  const preload = (): void => preloadPage(to);
  return (
    <Link
      href={query === '' ? to : `${to}?${query}`}
      className="navigation-link"
      aria-current={path === to ? 'page' : undefined}
      onPointerEnter={preload}
      onFocus={preload}
      onClick={() => onGo?.()}
    >
      <Icon aria-hidden />
      {name}
    </Link>
  );
}
