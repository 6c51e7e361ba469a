/** What was counted in a project: the same answers as those of the public interface, for whoever has a session. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { callersToCsv, seriesToCsv } from '../../../domain/counting/csv.js';
import { isProjectId } from '../../../domain/projects/project.js';
import { readSeries } from '../../../storage/series.js';
import { noSuchProject } from '../../errors.js';
import { answerAsAccepted } from '../../request/negotiate.js';
import { readRange, readSeriesParameters } from '../../request/parameters.js';
import { getProjectId } from '../../request/target.js';
import { addResource } from '../../resource.js';
import { RangeParameters, SeriesParameters } from '../../schemas/schemas.js';
import type { Dashboard } from '../context.js';
import { getOrganizationId } from '../requests.js';

const PROJECT = '/api/organizations/:organizationId/projects/:projectId';

export function addCounts(app: FastifyInstance, { store, sessionGuard }: Dashboard): void {
  const requireMember = sessionGuard.requireMember('viewer');
  const requireProject = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    await requireMember(request, reply);
    const id = getProjectId(request);
    const project = isProjectId(id) ? await store.findProject(getOrganizationId(request), id) : undefined;
    if (project === undefined) throw noSuchProject();
  };
  addResource(app, `${PROJECT}/caller-stats`, {
    onRequest: requireProject,
    GET: {
      schema: { hide: true, querystring: RangeParameters },
      attachValidation: true,
      handler: async (request) => store.count(getProjectId(request), readRange(request)),
    },
  });
  addResource(app, `${PROJECT}/series`, {
    onRequest: requireProject,
    GET: {
      schema: { hide: true, querystring: SeriesParameters },
      attachValidation: true,
      handler: async (request, reply) => {
        const series = await readSeries(store, getProjectId(request), readSeriesParameters(request));
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
        const callers = await store.countCallers(getProjectId(request), readRange(request));
        return answerAsAccepted(request, reply, callers, callersToCsv);
      },
    },
  });
}
