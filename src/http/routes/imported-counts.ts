/** `POST /v1/analytics/{projectId}/assistant/imported-counts`: imports counts of another system. */
import type { FastifyInstance } from 'fastify';
import { recordCounts } from '../../app/record.js';
import { parseImportedCount } from '../../domain/counting/imported-count.js';
import { importedCountsMax } from '../../domain/limits.js';
import { oneOf, prefixProblems, type Result, success } from '../../domain/result.js';
import { Arrivals } from '../request/arrivals.js';
import { refuseUnknownEncoding } from '../request/body.js';
import { parseItems } from '../request/items.js';
import { readParameters } from '../request/parameters.js';
import { getProjectId } from '../request/target.js';
import {
  DryRunParameter,
  errorResponses,
  ImportedCountsSchema,
  ImportResultSchema,
  jsonOrNdjsonBody,
  jsonResponse,
  ProjectPath,
} from '../schemas/schemas.js';
import { HttpError } from '../server/errors.js';
import { addResource } from '../server/resource.js';
import type { RecordingOptions } from './queries.js';

export function addImportedCounts(app: FastifyInstance, options: RecordingOptions): void {
  const { clock, authenticator, limits, ingestion } = options;
  const maxItems = Math.min(importedCountsMax, limits.batchQueriesMax);
  const arrivals = new Arrivals(ingestion, 'import');
  addResource(app, '/v1/analytics/:projectId/assistant/imported-counts', {
    onRequest: (request, reply) => authenticator.authorize(request, reply, getProjectId(request), ['admin']),
    POST: {
      config: { items: 'counts' },
      schema: describeImport(maxItems, limits.bodyBytesMax),
      attachValidation: true,
      preParsing: refuseUnknownEncoding,
      handler: async (request) => {
        const dryRun = readParameters(request, { dryRun: 'dryRun' }, parseDryRun);
        if (Array.isArray(request.body) && request.body.length > maxItems)
          throw new HttpError(413, `The body has more than ${maxItems} counts; send fewer at a time.`);
        const counts = await parseItems(request, { many: 'counts', done: 'imported' }, (item) =>
          parseImportedCount(item, clock.now()),
        );
        const result = await recordCounts(options, getProjectId(request), counts, { dryRun });
        // What is only checked is sent again, to be imported.
        if (!dryRun) arrivals.noteRecorded(request, result);
        return result;
      },
      onSend: async (request, { statusCode }) => {
        const { dryRun } = request.query as { readonly dryRun?: unknown };
        if (statusCode >= 400 && dryRun !== 'true') arrivals.noteItemsRefused(request, statusCode);
      },
    },
  });
}

function describeImport(maxItems: number, bodyBytesMax: number) {
  return {
    operationId: 'importCounts',
    tags: ['Recording'],
    summary: 'Import counts',
    description:
      'Imports history that exists only as counts: one count, an array of counts, or NDJSON with one count per line. ' +
      '`Content-Encoding: gzip` is supported. ' +
      `At most ${maxItems} counts and ${bodyBytesMax} bytes after decoding. All queries of a count are counted ` +
      'at the start of its span. Idempotent by source, caller and start, without a time limit. Of one source and ' +
      'caller, spans must not overlap. All or nothing: on 400 and 409 nothing was imported. The response is sent once ' +
      'the counts are on disk. Imported counts are withdrawn by their source, with a correction. Needs an admin key with the scope write.',
    security: [{ adminKey: [] }],
    params: ProjectPath,
    querystring: DryRunParameter,
    body: jsonOrNdjsonBody(ImportedCountsSchema, 'ImportedCount', 'One count per line.'),
    response: {
      200: jsonResponse(ImportResultSchema, 'The counts are on disk.'),
      ...errorResponses(400, 401, 403, 404, 405, 409, 413, 415, 429, 500, 503),
    },
  };
}

function parseDryRun({ dryRun = 'false' }: { readonly dryRun?: string | undefined }): Result<boolean> {
  const parsed = prefixProblems('dryRun', oneOf(['true', 'false'])(dryRun));
  return parsed.ok ? success(parsed.value === 'true') : parsed;
}
