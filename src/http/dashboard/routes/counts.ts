/** The counts of a project: the same responses as those of the public API, for members with a session. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { formatTime } from '../../../domain/format.js';
import { importRangesMax } from '../../../domain/history/import-range.js';
import { dayMs } from '../../../domain/time/duration.js';
import { requireNoParameters } from '../../request/parameters.js';
import { createReportHandlers } from '../../routes/analytics.js';
import {
  CallerStatsParameters,
  CallersParameters,
  ChangesParameters,
  CutBoundsParameters,
  NoParameters,
  NumbersParameters,
  SeriesParameters,
  WeekHoursParameters,
} from '../../schemas/schemas.js';
import { addResource } from '../../server/resource.js';
import type { Dashboard } from '../context.js';
import { getProject } from '../requests.js';
import type { ImportsResponse } from '../responses.js';

export function addCounts(app: FastifyInstance, dashboard: Dashboard): void {
  const { store, sessionGuard } = dashboard;
  const requireMember = sessionGuard.requireMember(['reader', 'viewer']);
  const onRequest = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    await requireMember(request, reply);
    request.project = await getProject(store, request);
  };
  const handlers = createReportHandlers(dashboard);
  for (const [name, querystring, handler] of [
    ['caller-stats', CallerStatsParameters, handlers.callerStats],
    ['series', SeriesParameters, handlers.series],
    ['callers', CallersParameters, handlers.callers],
    ['changes', ChangesParameters, handlers.changes],
    ['ingestion', NoParameters, handlers.ingestion],
    ['numbers', NumbersParameters, handlers.numbers],
    ['week-hours', WeekHoursParameters, handlers.weekHours],
    ['imported-counts', CutBoundsParameters, handlers.cutBounds],
  ] as const) {
    addResource(app, `/api/organizations/:organizationId/projects/:projectId/${name}`, {
      onRequest,
      GET: { schema: { hide: true, querystring }, attachValidation: true, handler },
    });
  }
  sessionGuard.addMemberResource(app, '/projects/:projectId/imports', ['reader', 'viewer'], {
    GET: async (_member, request): Promise<ImportsResponse> => {
      requireNoParameters(request);
      const { id } = await getProject(store, request);
      const ranges = await store.counts.listImports(id, importRangesMax);
      return {
        imports: ranges.map(({ day, sender, first, last }) => ({
          day: formatTime(day * dayMs),
          sender,
          first: formatTime(first),
          last: formatTime(last),
        })),
      };
    },
  });
}
