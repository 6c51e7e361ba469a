/** What was counted in a project: the same answers as those of the public interface, for whoever has a session. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { callersToCsv, seriesToCsv } from '../../../domain/counting/csv.js';
import { isProjectId } from '../../../domain/projects/project.js';
import { readSeries } from '../../../storage/series.js';
import { noSuchProject } from '../../errors.js';
import { answerAsAccepted } from '../../request/negotiate.js';
import { rangeOf, seriesQuestionOf } from '../../request/parameters.js';
import { projectIdOf } from '../../request/project-path.js';
import { addResource } from '../../resource.js';
import { RangeParameters, SeriesParameters } from '../../schemas/schemas.js';
import type { Dashboard } from '../context.js';
import { organizationIdOf } from '../path.js';

const PROJECT = '/api/organizations/:organizationId/projects/:projectId';

export function addCounts(app: FastifyInstance, { store, door }: Dashboard): void {
  const requireMember = door.requireMember('viewer');
  const requireProject = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    await requireMember(request, reply);
    const id = projectIdOf(request);
    const project = isProjectId(id) ? await store.findProject(organizationIdOf(request), id) : undefined;
    if (project === undefined) throw noSuchProject();
  };
  addResource(app, `${PROJECT}/caller-stats`, {
    onRequest: requireProject,
    GET: {
      schema: { hide: true, querystring: RangeParameters },
      attachValidation: true,
      handler: async (request) => store.count(projectIdOf(request), rangeOf(request)),
    },
  });
  addResource(app, `${PROJECT}/series`, {
    onRequest: requireProject,
    GET: {
      schema: { hide: true, querystring: SeriesParameters },
      attachValidation: true,
      handler: async (request, reply) => {
        const series = await readSeries(store, projectIdOf(request), seriesQuestionOf(request));
        return answerAsAccepted(request, reply, series, seriesToCsv);
      },
    },
  });
  addResource(app, `${PROJECT}/callers`, {
    onRequest: requireProject,
    GET: {
      schema: { hide: true, querystring: RangeParameters },
      attachValidation: true,
      handler: async (request, reply) => {
        const callers = await store.countCallers(projectIdOf(request), rangeOf(request));
        return answerAsAccepted(request, reply, callers, callersToCsv);
      },
    },
  });
}
