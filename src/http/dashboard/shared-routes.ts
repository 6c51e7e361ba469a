/** What holders of a share link get: its page, CSV for spreadsheets, and the counts for the page. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { CallerStatsError } from '../../domain/errors.js';
import type { Slots } from '../../shared/slots.js';
import { readFields, text } from '../request/fields.js';
import { requireNoParameters } from '../request/parameters.js';
import { createReportHandlers } from '../routes/analytics.js';
import {
  CallerStatsParameters,
  CallersParameters,
  CutBoundsParameters,
  NumbersParameters,
  SeriesParameters,
  WeekHoursParameters,
} from '../schemas/schemas.js';
import { HttpError } from '../server/errors.js';
import { asksForPage, sendPage } from '../server/files.js';
import { addResource } from '../server/resource.js';
import type { Dashboard } from './context.js';
import { readSecretPage } from './pages.js';
import type { SharedProjectResponse, ShareTicketResponse } from './responses.js';

/** Search engines list neither pages nor downloads of share links. */
const UNLISTED = { 'x-robots-tag': 'noindex' };

/** The API of the page. */
export function addShared(app: FastifyInstance, dashboard: Dashboard, slots: Slots): void {
  const { sharedLinks } = dashboard;
  const { handlers, preHandler } = createSharedReports(dashboard, slots);
  addResource(app, '/api/shared/:token', {
    GET: async (request, reply): Promise<SharedProjectResponse> => {
      const { link, project } = await sharedLinks.authorize(request, reply);
      requireNoParameters(request);
      return {
        name: project.name,
        timeZone: project.timeZone,
        weekStart: project.weekStart,
        servesCsv: link.passwordHash === null,
      };
    },
  });
  addResource(app, '/api/shared/:token/unlock', {
    POST: async (request, reply): Promise<ShareTicketResponse> => {
      const { password } = readFields(request, { password: text });
      return { ticket: await sharedLinks.unlock(request, reply, password) };
    },
  });
  for (const [name, querystring, handler] of [
    ['caller-stats', CallerStatsParameters, handlers.callerStats],
    ['series', SeriesParameters, handlers.series],
    ['callers', CallersParameters, handlers.callers],
    ['numbers', NumbersParameters, handlers.numbers],
    ['week-hours', WeekHoursParameters, handlers.weekHours],
    ['imported-counts', CutBoundsParameters, handlers.cutBounds],
  ] as const) {
    addResource(app, `/api/shared/:token/${name}`, {
      GET: { schema: { hide: true, querystring }, attachValidation: true, preHandler, handler },
    });
  }
}

/** The page and the CSV. */
export async function addSharedPages(
  app: FastifyInstance,
  dashboard: Dashboard,
  slots: Slots,
): Promise<void> {
  const { sharedLinks, pages, basePath } = dashboard;
  const html = await readSecretPage(pages, basePath);
  addResource(app, '/share/:token', {
    GET: async (request, reply) => {
      reply.headers(UNLISTED);
      try {
        const { link } = await sharedLinks.find(request, reply);
        return sendPage(reply, html, { status: 200, origins: link.origins });
      } catch (error) {
        // The page says it to people.
        const isMissing = error instanceof CallerStatsError && error.code === 'not_found';
        if (!isMissing || !asksForPage(request)) throw error;
        return sendPage(reply, html, { status: 404, origins: [] });
      }
    },
  });
  const { handlers, preHandler } = createSharedReports(dashboard, slots, { withoutPassword: true });
  for (const [path, querystring, handler] of [
    ['/share/:token.csv', SeriesParameters, handlers.seriesCsv],
    ['/share/:token/callers.csv', CallersParameters, handlers.callersCsv],
  ] as const) {
    addResource(app, path, {
      GET: { schema: { hide: true, querystring }, attachValidation: true, preHandler, handler },
    });
  }
}

/** The reports of the link's project, and what authorizes requests for them. */
function createSharedReports(
  { store, clock, ingestion, sharedLinks }: Dashboard,
  slots: Slots,
  { withoutPassword = false } = {},
) {
  return {
    handlers: createReportHandlers({ store, clock, ingestion, slots }, { ofNow: true }),
    preHandler: async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
      reply.headers(UNLISTED);
      const { link, project } = await sharedLinks[withoutPassword ? 'find' : 'authorize'](request, reply);
      if (withoutPassword && link.passwordHash !== null) throw noCsv();
      request.project = project;
    },
  };
}

function noCsv(): HttpError {
  const message =
    'This link has a password, which a spreadsheet cannot send, so it serves no CSV. Create a link without a password.';
  return new HttpError(403, message);
}
