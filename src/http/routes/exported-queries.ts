/** `GET /v1/analytics/{projectId}/assistant/queries`: the recorded queries themselves, as NDJSON or CSV. */
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';
import { exportQueries } from '../../app/export/export.js';
import { EXPORTED_COLUMNS, type ExportFormat } from '../../app/export/rows.js';
import {
  parseQueriesRequest,
  REPORT_PARAMETER_NAMES,
  REPORT_PARAMETERS,
  type ReportInput,
} from '../../domain/counting/report-request.js';
import { RECEIPT_PARAMETER_NAMES, type ReceiptInput } from '../../domain/queries/receipt.js';
import type { Clock } from '../../domain/time/clock.js';
import type { Store } from '../../storage/ports/store.js';
import { extendDeadline } from '../connection/deadlines.js';
import { openedProject } from '../request/opened.js';
import { readParameters } from '../request/parameters.js';
import { stringSchema } from '../schemas/json-schema.js';
import { errorResponses, ProjectPath, QueriesParameters } from '../schemas/schemas.js';
import type { Resource } from '../server/resource.js';

const TYPES: Readonly<Record<ExportFormat, string>> = {
  ndjson: 'application/x-ndjson; charset=utf-8',
  csv: 'text/csv; charset=utf-8; header=present',
};

const NAMES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(REPORT_PARAMETERS.queries.map((one) => [one, REPORT_PARAMETER_NAMES[one]])),
  ...RECEIPT_PARAMETER_NAMES,
};

interface ExportSources {
  readonly store: Pick<Store, 'counts' | 'corrections'>;
  readonly clock: Clock;
}

/** The operation. The exports that are in progress when the app closes are cut. */
export function exportedQueries(
  app: FastifyInstance,
  { store, clock }: ExportSources,
): NonNullable<Resource['GET']> {
  const exports = new Set<Readable>();
  app.addHook('preClose', async () => {
    for (const one of exports) one.destroy(new Error('The server is stopping.'));
  });
  return {
    schema: SCHEMA,
    attachValidation: true,
    handler: async (request, reply) => {
      const { range, caller, receipts } = readParameters(
        request,
        NAMES,
        (parameters: ReportInput & ReceiptInput) =>
          parseQueriesRequest(parameters, {
            nowMs: clock.now(),
            weekStart: openedProject(request).weekStart,
          }),
      );
      const format = preferredFormat(request);
      reply.header('vary', 'Accept').type(TYPES[format]);
      const projectId = openedProject(request).id;
      const parts = exportQueries(store, { projectId, range, caller, receipts, format });
      // If the store cannot be read, the response is an error.
      const first = await parts.next();
      if (request.method === 'HEAD') return reply.send();
      const body = Readable.from(follow(request, reply, first, parts));
      exports.add(body);
      body.once('close', () => exports.delete(body));
      return reply.send(body);
    },
  };
}

/** NDJSON also if the request accepts neither, as the reports. */
function preferredFormat({ raw }: FastifyRequest): ExportFormat {
  return new Negotiator(raw).mediaType([TYPES.ndjson, TYPES.csv]) === TYPES.csv ? 'csv' : 'ndjson';
}

/** The parts of the response. The client's reading asks for each, and each gives the client as much time again. */
async function* follow(
  { raw }: FastifyRequest,
  reply: FastifyReply,
  first: IteratorResult<string, void>,
  parts: AsyncGenerator<string, void>,
): AsyncGenerator<string> {
  if (!first.done) yield first.value;
  for await (const part of parts) {
    extendDeadline(raw, reply.raw);
    yield part;
  }
}

const SCHEMA = {
  operationId: 'exportQueries',
  tags: ['Analytics'],
  summary: 'Export queries',
  description:
    'All recorded queries that occurred in the half-open range [dateFrom, dateTo), each with its id, caller and time, and the UTC day ' +
    'on which it arrived and its sender, null where nobody knows them, in no particular order: NDJSON, or CSV for `Accept: text/csv`. NDJSON begins with a line for each ' +
    'finished correction and imported count, and has withdrawn queries, marked so; CSV has only queries that count. Every query that was recorded before the ' +
    'request is in the response; those that are recorded meanwhile may be. The response is made while it is read, in little ' +
    'memory, and breaks off if the server stops or cannot read its store: then repeat the request. `caller-stats import` reads ' +
    'what this returns.',
  security: [{ adminKey: [] }],
  params: ProjectPath,
  querystring: QueriesParameters,
  response: {
    200: {
      description: 'The queries.',
      content: {
        'application/x-ndjson': { schema: stringSchema('One correction, imported count or query per line.') },
        'text/csv': {
          schema: stringSchema(`RFC 4180, with the header line \`${EXPORTED_COLUMNS.join()}\`.`),
        },
      },
    },
    ...errorResponses(400, 401, 403, 404, 405, 429, 500, 503),
  },
};
