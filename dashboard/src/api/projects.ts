/** The projects of an organization. */
import { useMutation } from '@tanstack/react-query';
import { getQuery, listQuery, request } from './client.js';
import { organizationPath, projectPath, projectsPath } from './paths.js';
import { queryClient } from './query-client.js';
import type { Project, Projects, Summaries, TelemetrySetting } from './types.js';

/** How often the overview of all projects is refreshed. */
const summariesMs = 60_000;

export function projectsQuery(organizationId: string) {
  return { ...listQuery<Projects>(organizationId, 'projects'), staleTime: 60_000 };
}

/** The last days of all projects, each in its own time zone; `timeZone` is for those without one. */
export function summariesQuery(organizationId: string, timeZone: string) {
  const path = `${organizationPath(organizationId)}/summaries?${new URLSearchParams({ timeZone })}`;
  return { ...getQuery<Summaries>(path), refetchInterval: summariesMs };
}

export interface NewProject {
  readonly name: string;
  /** If omitted, the server generates one. */
  readonly id?: string;
}

export async function createProject(organizationId: string, project: NewProject): Promise<Project> {
  const created = await request<Project>('POST', projectsPath(organizationId), project);
  await queryClient.invalidateQueries(projectsQuery(organizationId));
  return created;
}

export type ProjectChange = Partial<
  Pick<Project, 'name' | 'timeZone' | 'weekStart' | 'retentionDays' | 'earliestAt' | TelemetrySetting>
>;

/** Updates a project optimistically, and reverts the change if the server refuses. */
export function useProjectChange(organizationId: string, projectId: string) {
  const { queryKey } = projectsQuery(organizationId);
  const put = (change: ProjectChange): void => {
    queryClient.setQueryData(queryKey, (old) =>
      old === undefined
        ? old
        : {
            ...old,
            projects: old.projects.map((one) => (one.id === projectId ? { ...one, ...change } : one)),
          },
    );
  };
  return useMutation({
    mutationFn: (change: ProjectChange) =>
      request<Project>('PATCH', projectPath(organizationId, projectId), change),
    onMutate: async (change) => {
      await queryClient.cancelQueries({ queryKey });
      const before = queryClient.getQueryData(queryKey);
      put(change);
      return { before };
    },
    onSuccess: put,
    onError: (_error, _change, context) => queryClient.setQueryData(queryKey, context?.before),
  });
}

/** Deletes a project permanently; `name` is what the user typed to confirm. */
export async function deleteProject(organizationId: string, projectId: string, name: string): Promise<void> {
  await request('DELETE', projectPath(organizationId, projectId), { name });
  await queryClient.invalidateQueries(projectsQuery(organizationId));
}
