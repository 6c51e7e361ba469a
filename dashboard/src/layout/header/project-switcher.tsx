/** Shows the project and switches to another one. */

import { useQueries } from '@tanstack/react-query';
import { ChevronsUpDown, LayoutGrid, Plus } from 'lucide-react';
import { useRef } from 'react';
import { Link, useLocation } from 'wouter';
import { roleAllows } from '../../../../src/domain/people/member.js';
import { isSampleProject } from '../../../../src/domain/projects/samples.js';
import { projectsQuery } from '../../api/projects.js';
import { useOrganizations } from '../../api/session.js';
import type { Organization, Project } from '../../api/types.js';
import { Badge } from '../../components/feedback/badge.js';
import { Skeleton } from '../../components/feedback/skeleton.js';
import { Picker, type PickerHandle } from '../../components/overlays/picker.js';
import { type ProjectPageName, projectPage } from '../../navigation/current-project.js';
import { useShortcut } from '../use-shortcuts.js';
import { Logo } from './logo.js';

interface SwitcherProps {
  readonly organization: Organization | null;
  readonly project: Project | null;
}

export function ProjectSwitcher({ organization, project }: SwitcherProps) {
  const [path, navigate] = useLocation();
  const picker = useRef<PickerHandle>(null);
  const organizations = useOrganizations();
  const lists = useQueries({ queries: organizations.map(({ id }) => projectsQuery(id)) });
  const isLoading = lists.some(({ isPending }) => isPending);
  useShortcut('projects', () => picker.current?.open());

  const options = lists.flatMap(({ data }, index) =>
    (data?.projects ?? []).map(({ id, name }) => ({
      value: id,
      label: name,
      ...(organizations.length > 1 ? { note: organizations[index]?.name ?? '' } : {}),
    })),
  );
  // Keep the current page when switching projects.
  const page = /^\/projects\/[^/]+\/(keys|sources|corrections|settings)$/.exec(path)?.[1] as
    | ProjectPageName
    | undefined;

  return (
    <Picker
      ref={picker}
      label="Switch project"
      options={options}
      value={project?.id ?? ''}
      onChange={(id) => navigate(projectPage(id, page))}
      button={(props) => (
        <button {...props} type="button" className="switcher">
          <Logo />
          <span className="switcher-names">
            <span className="switcher-name">
              {project?.name ?? (isLoading ? <Skeleton shape="text" /> : 'caller-stats')}
            </span>
            {project !== null && isSampleProject(project) ? (
              <span>
                <Badge kind="accent">Sample data</Badge>
              </span>
            ) : (
              organization !== null && <span className="switcher-organization">{organization.name}</span>
            )}
          </span>
          <ChevronsUpDown aria-hidden />
          <span className="out-of-sight">Switch project</span>
        </button>
      )}
      foot={
        organization !== null && (
          <>
            {options.length > 1 && (
              <Link href="/projects" className="menu-item">
                <LayoutGrid aria-hidden />
                All projects
              </Link>
            )}
            {roleAllows(organization.role, 'editor') && (
              <Link href="/new-project" className="menu-item">
                <Plus aria-hidden />
                New project
              </Link>
            )}
          </>
        )
      }
    />
  );
}
