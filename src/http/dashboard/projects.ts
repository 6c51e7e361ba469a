/** Projects of an organization. */
import type { FastifyInstance } from 'fastify';
import { generateId, isProjectId, type Project } from '../../domain/project.js';
import { failure, type Result, success } from '../../domain/result.js';
import { addResource } from '../resource.js';
import { created } from './answers.js';
import type { Dashboard } from './context.js';
import { name, optional, readFields } from './fields.js';
import { organizationIdOf } from './path.js';
import { toTime } from './time.js';

const PROJECTS = '/api/organizations/:organizationId/projects';

export function addProjects(app: FastifyInstance, dashboard: Dashboard): void {
  addListAndCreate(app, dashboard);
}

function addListAndCreate(app: FastifyInstance, { store, door, randomInt }: Dashboard): void {
  addResource(app, PROJECTS, {
    onRequest: door.requireMember('editor'),
    GET: {
      schema: { hide: true },
      handler: async (request) => {
        const projects = await store.listProjects(organizationIdOf(request));
        return { projects: projects.map(toListed) };
      },
    },
    POST: {
      schema: { hide: true },
      handler: async (request, reply) => {
        const fields = readFields(request, { name, id: optional(projectId) });
        const by = door.actorOf(request);
        const project = {
          id: fields.id ?? generateId(randomInt),
          organizationId: organizationIdOf(request),
          name: fields.name,
          createdAt: by.at,
          timeZone: null,
          retentionDays: null,
          rowsFrom: null,
        };
        await store.createProject(project, by);
        return created(reply, toListed(project));
      },
    },
  });
}

function toListed({ id, name: called, createdAt }: Project) {
  return { id, name: called, createdAt: toTime(createdAt) };
}

function projectId(value: unknown): Result<string> {
  return typeof value === 'string' && isProjectId(value)
    ? success(value)
    : failure('is not 1 to 64 letters, digits, - and _, beginning with a letter or digit');
}
