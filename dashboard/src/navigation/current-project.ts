/** The organization and project that the pages show. */
import { useQueries, useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { projectsQuery } from '../api/projects.js';
import { useOrganizations } from '../api/session.js';
import type { Organization, Project } from '../api/types.js';
import { remember } from '../preferences/local-storage.js';
import { lastOrganization, lastProject } from './last-project.js';

export interface CurrentProject {
  readonly organization: Organization;
  readonly project: Project;
}

export interface Search<T> {
  readonly found: T | null;
  readonly isLoading: boolean;
  readonly error: Error | null;
}

/** Finds a project by id in any of the user's organizations. */
export function useProject(projectId: string): Search<CurrentProject> {
  const organizations = useOrganizations();
  const search = useQueries({
    queries: organizations.map(({ id }) => projectsQuery(id)),
    combine: (results) => ({
      lists: results.map(({ data }) => data?.projects),
      isLoading: results.some(({ isPending }) => isPending),
      error: results.find(({ error }) => error !== null)?.error ?? null,
    }),
  });
  for (const [index, projects] of search.lists.entries()) {
    const organization = organizations[index];
    const project = projects?.find(({ id }) => id === projectId);
    if (project !== undefined && organization !== undefined)
      return { found: { organization, project }, isLoading: false, error: null };
  }
  return { found: null, isLoading: search.isLoading, error: search.error };
}

/** The organization of pages without a project: the last one visited, or the first. */
export function useOrganization(): Organization | null {
  return lastOrganization(useOrganizations()) ?? null;
}

/** The start project: the last one visited, or the organization's first. */
export function useFirstProject(organization: Organization | null): Search<Project> {
  const { data, isPending, error } = useQuery({
    ...projectsQuery(organization?.id ?? ''),
    enabled: organization !== null,
  });
  return {
    found: lastProject(data?.projects ?? []) ?? null,
    isLoading: isPending && organization !== null,
    error: data === undefined ? error : null,
  };
}

/** Whether the organization has more than one project. */
export function useHasSeveralProjects(organization: Organization | null): boolean {
  const { data } = useQuery({ ...projectsQuery(organization?.id ?? ''), enabled: organization !== null });
  return (data?.projects.length ?? 0) > 1;
}

/** Remembers the project for the next visit. */
export function useRemembered({ organization, project }: CurrentProject): void {
  useEffect(() => {
    remember('organization', organization.id);
    remember('project', project.id);
  }, [organization.id, project.id]);
}

/** The pages of a project besides the overview, as their paths end. */
export type ProjectPageName = 'keys' | 'sources' | 'corrections' | 'settings';

/** The path of a project's page; the overview by default. */
export function projectPage(projectId: string, page?: ProjectPageName): string {
  const path = `/projects/${encodeURIComponent(projectId)}`;
  return page === undefined ? path : `${path}/${page}`;
}
