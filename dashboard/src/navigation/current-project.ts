/** Where the reader is: the organization and project that pages are about. */
import { useQueries, useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { projectsQuery } from '../api/projects.js';
import { useOrganizations } from '../api/session.js';
import type { Organization, Project } from '../api/types.js';
import { recall, remember } from '../preferences/local-storage.js';

export interface ProjectPlace {
  readonly organization: Organization;
  readonly project: Project;
}

export interface Search<T> {
  readonly found: T | null;
  readonly isLoading: boolean;
  readonly error: Error | null;
}

/** A project by its id, in whichever organization of the reader's it is. */
export function useProject(projectId: string): Search<ProjectPlace> {
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

/** The organization that pages without a project are about: the last one, or the first. */
export function useOrganization(): Organization | null {
  const organizations = useOrganizations();
  const last = recall('organization');
  return organizations.find(({ id }) => id === last) ?? organizations[0] ?? null;
}

/** The project to begin with: the last one, or the organization's first. */
export function useFirstProject(organization: Organization | null): Search<Project> {
  const { data, isPending, error } = useQuery({
    ...projectsQuery(organization?.id ?? ''),
    enabled: organization !== null,
  });
  const last = recall('project');
  const projects = data?.projects ?? [];
  return {
    found: projects.find(({ id }) => id === last) ?? projects[0] ?? null,
    isLoading: isPending && organization !== null,
    error: data === undefined ? error : null,
  };
}

/** Keeps where the reader is for the next visit. */
export function useRemembered({ organization, project }: ProjectPlace): void {
  useEffect(() => {
    remember('organization', organization.id);
    remember('project', project.id);
  }, [organization.id, project.id]);
}

/** The path of a project's page; without a name, of its overview. */
export function projectPage(projectId: string, page?: 'keys' | 'settings'): string {
  const path = `/projects/${encodeURIComponent(projectId)}`;
  return page === undefined ? path : `${path}/${page}`;
}
