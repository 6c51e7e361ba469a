/** The counts of a project: the same responses as those of the public API, for members with a session. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { CALLER_STATS, CALLERS, SERIES } from '../../../app/reports.js';
import { isProjectId } from '../../../domain/projects/project.js';
import { noSuchProject } from '../../errors.js';
import { answerAsAccepted } from '../../request/negotiate.js';
import { readRange, readSeriesParameters } from '../../request/parameters.js';
import { getProjectId } from '../../request/target.js';
import { addResource, type Resource } from '../../resource.js';
import { RangeParameters, SeriesParameters } from '../../schemas/schemas.js';
import type { Dashboard } from '../context.js';
import { getOrganizationId } from '../requests.js';

export function addCounts(app: FastifyInstance, { store, sessionGuard }: Dashboard): void {
  const requireMember = sessionGuard.requireMember('viewer');
  const onRequest = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    await requireMember(request, reply);
    const id = getProjectId(request);
    const project = isProjectId(id) ? await store.findProject(getOrganizationId(request), id) : undefined;
    if (project === undefined) throw noSuchProject();
  };
  const addReport = (
    name: string,
    querystring: object,
    handler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>,
  ): void => {
    const GET: Resource['GET'] = { schema: { hide: true, querystring }, attachValidation: true, handler };
    addResource(app, `/api/organizations/:organizationId/projects/:projectId/${name}`, { onRequest, GET });
  };
  addReport('caller-stats', RangeParameters, (request) =>
    CALLER_STATS.read(store, getProjectId(request), readRange(request)),
  );
  addReport('series', SeriesParameters, async (request, reply) => {
    const series = await SERIES.read(store, getProjectId(request), readSeriesParameters(request));
    return answerAsAccepted(request, reply, series, SERIES.toCsv);
  });
  addReport('callers', RangeParameters, async (request, reply) => {
    const callers = await CALLERS.read(store, getProjectId(request), readRange(request));
    return answerAsAccepted(request, reply, callers, CALLERS.toCsv);
  });
}
