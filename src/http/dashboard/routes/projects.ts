/** Projects of an organization. */
import type { FastifyInstance } from 'fastify';
import { toListedProject } from '../../../app/listed.js';
import { createProject } from '../../../app/projects.js';
import { projectIdCharactersMax, retentionDaysMax } from '../../../domain/limits.js';
import { isProjectId } from '../../../domain/projects/project.js';
import { failure, type Result, success } from '../../../domain/result.js';
import { parseTimeZone } from '../../../domain/time/time-zone.js';
import { noSuchProject } from '../../errors.js';
import { getProjectId } from '../../request/target.js';
import { addResource } from '../../resource.js';
import type { Dashboard } from '../context.js';
import { invalid, name, optional, readFields, text } from '../fields.js';
import { created, getOrganizationId, noContent } from '../requests.js';

const PROJECTS = '/api/organizations/:organizationId/projects';

export function addProjects(app: FastifyInstance, dashboard: Dashboard): void {
  addListAndCreate(app, dashboard);
  addChangeAndDelete(app, dashboard);
}

function addListAndCreate(app: FastifyInstance, { store, sessionGuard, randomInt }: Dashboard): void {
  addResource(app, PROJECTS, {
    onRequest: sessionGuard.requireMember('editor'),
    GET: {
      schema: { hide: true },
      handler: async (request) => {
        const projects = await store.listProjects(getOrganizationId(request));
        return { projects: projects.map(toListedProject) };
      },
    },
    POST: {
      schema: { hide: true },
      handler: async (request, reply) => {
        const fields = readFields(request, { name, id: optional(projectId) });
        const by = sessionGuard.getActor(request);
        const wanted = { id: fields.id, organizationId: getOrganizationId(request), name: fields.name };
        const project = await createProject({ store, randomInt }, wanted, by);
        return created(reply, toListedProject(project));
      },
    },
  });
}

function addChangeAndDelete(app: FastifyInstance, { store, sessionGuard }: Dashboard): void {
  addResource(app, `${PROJECTS}/:projectId`, {
    onRequest: sessionGuard.requireMember('editor'),
    PATCH: {
      schema: { hide: true },
      handler: async (request) => {
        const { name: called, ...fields } = readFields(request, {
          name: optional(name),
          timeZone: optional(timeZone),
          retentionDays: optional(retentionDays),
        });
        const change = {
          ...(called === undefined ? {} : { name: called }),
          ...(fields.timeZone === undefined ? {} : { timeZone: fields.timeZone }),
          ...(fields.retentionDays === undefined ? {} : { retentionDays: fields.retentionDays }),
        };
        const of = [getOrganizationId(request), existingId(getProjectId(request))] as const;
        return toListedProject(await store.changeProject(...of, change, sessionGuard.getActor(request)));
      },
    },
    DELETE: {
      schema: { hide: true },
      handler: async (request, reply) => {
        const { name: typed } = readFields(request, { name: text });
        const of = [getOrganizationId(request), existingId(getProjectId(request))] as const;
        const project = await store.findProject(...of);
        if (project === undefined) throw noSuchProject();
        if (project.name !== typed)
          throw invalid(['name: is not the name of the project, so nothing was deleted']);
        // What it recorded is removed by the server's clean-up.
        await store.deleteProject(...of, sessionGuard.getActor(request));
        return noContent(reply);
      },
    },
  });
}

/** What cannot be an id is not looked up as one. */
function existingId(id: string): string {
  if (!isProjectId(id)) throw noSuchProject();
  return id;
}

function projectId(value: unknown): Result<string> {
  return typeof value === 'string' && isProjectId(value)
    ? success(value)
    : failure(
        `is not 1 to ${projectIdCharactersMax} letters, digits, - and _, beginning with a letter or digit`,
      );
}

function timeZone(value: unknown): Result<string | null> {
  if (value === null) return success(null);
  return typeof value === 'string' ? parseTimeZone(value) : failure('is neither a text nor null');
}

function retentionDays(value: unknown): Result<number | null> {
  if (value === null) return success(null);
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= retentionDaysMax
    ? success(value)
    : failure(`is not a whole number of days from 1 to ${retentionDaysMax}, or null`);
}
