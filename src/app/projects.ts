/** Use cases of projects, for the command line and the dashboard alike. */
import type { Actor } from '../domain/people/audit.js';
import { generateId, type Project } from '../domain/projects/project.js';
import type { Store } from '../storage/ports/store.js';

/** Makes an empty project, with a new id unless one is given. `already_exists` where the id is taken. */
export async function createProject(
  { store, randomInt }: { readonly store: Store; readonly randomInt: (max: number) => number },
  { id, organizationId, name }: { id: string | undefined; organizationId: string; name: string },
  by: Actor,
): Promise<Project> {
  const project = {
    id: id ?? generateId(randomInt),
    organizationId,
    name,
    createdAt: by.at,
    timeZone: null,
    retentionDays: null,
    rowsFrom: null,
  };
  await store.createProject(project, by);
  return project;
}
