/** `GET …/summaries`: the last days of all projects. */
import type { FastifyInstance } from 'fastify';
import { readSummaries } from '../../../app/reading/summaries.js';
import { prefixProblems } from '../../../domain/result.js';
import { parseTimeZone, UTC } from '../../../domain/time/time-zone.js';
import { readParameters } from '../../request/parameters.js';
import { sendLists, writeList } from '../../routes/lists.js';
import type { Dashboard } from '../context.js';
import type { SummariesResponse } from '../responses.js';

export function addSummaries(app: FastifyInstance, { store, clock, sessionGuard }: Dashboard): void {
  sessionGuard.addMemberResource(app, '/summaries', ['reader', 'owner'], {
    GET: async ({ organizationId, rights }, request, reply) => {
      const timeZone = readParameters(request, { timeZone: 'timeZone' }, (parameters) =>
        prefixProblems('timeZone', parseTimeZone(parameters.timeZone ?? UTC)),
      );
      return sendLists({ request, reply, owner: organizationId }, async () => {
        const asked = { timeZone, nowMs: clock.now() };
        const summaries = await readSummaries(store, { organizationId, ...rights }, asked);
        return writeList(summaries satisfies SummariesResponse, 'projects');
      });
    },
  });
}
