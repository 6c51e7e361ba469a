/** Use cases of organizations and projects, for the command line and the dashboard. */
import { CallerStatsError } from '../domain/errors.js';
import { projectsMax } from '../domain/limits.js';
import type { Actor } from '../domain/people/audit.js';
import { mayRead, type Rights } from '../domain/people/member.js';
import { type Organization, requireRoom } from '../domain/projects/organization.js';
import type { Project, ProjectChange } from '../domain/projects/project.js';
import { mapTelemetrySettings } from '../domain/queries/telemetry-settings.js';
import { generateId } from '../domain/random-text.js';
import type { Store } from '../storage/ports/store.js';

export interface Creation {
  readonly store: Store;
  /** A uniform integer in [0, max) from a cryptographic source. */
  readonly randomInt: (max: number) => number;
}

/** Creates an empty organization, with a generated id unless one is given. Throws `already_exists` if the id is taken. */
export async function createOrganization(
  { store, randomInt }: Creation,
  { id = generateId(randomInt), name }: { id: string | undefined; name: string },
  by: Actor,
): Promise<Organization> {
  const organization = { id, name, createdAt: by.at, secondFactor: 'optional' } as const;
  await store.directory.createOrganization(organization, by);
  return organization;
}

/** Creates an empty project, with a generated id unless one is given. Throws `already_exists` if the id is taken. */
export async function createProject(
  { store, randomInt }: Creation,
  { id, organizationId, name }: { id: string | undefined; organizationId: string; name: string },
  by: Actor,
): Promise<Project> {
  const projects = await store.directory.countProjects(organizationId);
  requireRoom(projects, projectsMax, 'projects', 'Delete one first, or create another organization.');
  const project = {
    id: id ?? generateId(randomInt),
    organizationId,
    name,
    createdAt: by.at,
    timeZone: null,
    weekStart: null,
    retentionDays: null,
    earliestAt: null,
    rowsFrom: null,
    ...mapTelemetrySettings(() => null),
  };
  await store.directory.createProject(project, by);
  return project;
}

/** The projects that a member may read. */
export async function listReadable(
  { directory }: Pick<Store, 'directory'>,
  { organizationId, ...rights }: Rights & { readonly organizationId: string },
): Promise<Project[]> {
  return (await directory.listProjects(organizationId)).filter(({ id }) => mayRead(rights, id));
}

/** Throws `not_found` unless the organization has the project; `refusal` makes another error. */
export async function requireProject(
  store: Store,
  organizationId: string,
  id: string,
  refusal = () => new CallerStatsError('not_found', `There is no project ${id}.`),
): Promise<Project> {
  const project = await store.directory.findProject(organizationId, id);
  if (project === undefined) throw refusal();
  return project;
}

/** Changes the fields that are given. Throws `not_found` unless the organization has the project. */
export function changeProject(
  store: Store,
  { organizationId, id }: Pick<Project, 'organizationId' | 'id'>,
  change: { readonly [Name in keyof ProjectChange]: ProjectChange[Name] | undefined },
  by: Actor,
): Promise<Project> {
  const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
  return store.directory.changeProject(organizationId, id, given, by);
}

/**
 * Deletes a project. Its rows stay until they are purged. Throws `not_found` unless the organization has the project, and
 * `invalid` unless `name` is the name of the project; `field` is the input that has it.
 */
export async function deleteProject(
  store: Store,
  { organizationId, id }: Pick<Project, 'organizationId' | 'id'>,
  { name, field }: { readonly name: string; readonly field: string },
  by: Actor,
): Promise<Project> {
  const project = await requireProject(store, organizationId, id);
  if (project.name !== name) {
    const detail = `${field}: is not the name of the project ${id}, so nothing was deleted`;
    throw new CallerStatsError('invalid', 'The request is invalid.', { details: [detail] });
  }
  await store.directory.deleteProject(organizationId, id, by);
  return project;
}
