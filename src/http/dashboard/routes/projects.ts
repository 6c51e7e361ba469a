/** Projects of an organization. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { projectToJson } from '../../../app/json.js';
import { changeProject, createProject, deleteProject } from '../../../app/projects.js';
import { retentionDaysMax } from '../../../domain/limits.js';
import { isProjectId, parseNewId } from '../../../domain/projects/project.js';
import { isRetentionDays } from '../../../domain/projects/retention.js';
import { failure, type Result, success } from '../../../domain/result.js';
import { parseTimeZone } from '../../../domain/time/time-zone.js';
import { noSuchProject } from '../../errors.js';
import { getProjectId } from '../../request/target.js';
import { addResource } from '../../resource.js';
import type { Dashboard } from '../context.js';
import { name, optional, readFields, text } from '../fields.js';
import { created, getOrganizationId, noContent } from '../requests.js';

const PROJECTS = '/api/organizations/:organizationId/projects';

export function addProjects(app: FastifyInstance, dashboard: Dashboard): void {
  addListAndCreate(app, dashboard);
  addChangeAndDelete(app, dashboard);
}

function addListAndCreate(app: FastifyInstance, { store, sessionGuard, randomInt }: Dashboard): void {
  addResource(app, PROJECTS, {
    onRequest: sessionGuard.requireMember('editor'),
    GET: async (request) => {
      const projects = await store.listProjects(getOrganizationId(request));
      return { projects: projects.map(projectToJson) };
    },
    POST: async (request, reply) => {
      const fields = readFields(request, { name, id: optional(projectId) });
      const by = sessionGuard.getActor(request);
      const wanted = { id: fields.id, organizationId: getOrganizationId(request), name: fields.name };
      const project = await createProject({ store, randomInt }, wanted, by);
      return created(reply, projectToJson(project));
    },
  });
}

function addChangeAndDelete(app: FastifyInstance, { store, sessionGuard }: Dashboard): void {
  addResource(app, `${PROJECTS}/:projectId`, {
    onRequest: sessionGuard.requireMember('editor'),
    PATCH: async (request) => {
      const change = readFields(request, {
        name: optional(name),
        timeZone: optional(timeZone),
        retentionDays: optional(retentionDays),
      });
      const by = sessionGuard.getActor(request);
      return projectToJson(await changeProject(store, getTarget(request), change, by));
    },
    DELETE: async (request, reply) => {
      const { name: typed } = readFields(request, { name: text });
      const confirmation = { name: typed, field: 'name' };
      await deleteProject(store, getTarget(request), confirmation, sessionGuard.getActor(request));
      return noContent(reply);
    },
  });
}

/** The project of the request's path. `404` for an id that no project can have. */
function getTarget(request: FastifyRequest) {
  const id = getProjectId(request);
  if (!isProjectId(id)) throw noSuchProject();
  return { organizationId: getOrganizationId(request), id };
}

function projectId(value: unknown): Result<string> {
  return parseNewId(typeof value === 'string' ? value : '');
}

function timeZone(value: unknown): Result<string | null> {
  if (value === null) return success(null);
  return typeof value === 'string' ? parseTimeZone(value) : failure('is neither a text nor null');
}

function retentionDays(value: unknown): Result<number | null> {
  if (value === null) return success(null);
  return typeof value === 'number' && isRetentionDays(value)
    ? success(value)
    : failure(`is not a whole number of days from 1 to ${retentionDaysMax}, or null`);
}
