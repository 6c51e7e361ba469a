/** `/v1/analytics/{projectId}/assistant/corrections`: corrects what was recorded, and lists corrections. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  type CorrectionTarget,
  correct,
  correctionsInPiece,
  listCorrections,
  measureCorrection,
  type ShownCorrection,
  showCorrection,
  showMeasured,
} from '../../app/corrections.js';
import { parseCorrection, splitRequest } from '../../domain/corrections/correction.js';
import { CallerStatsError } from '../../domain/errors.js';
import { correctionBytesMax, correctionPartsMax, correctionsListedMax } from '../../domain/limits.js';
import type { Actor } from '../../domain/people/audit.js';
import { formatSender } from '../../domain/queries/receipt.js';
import { failure, type Result, success } from '../../domain/result.js';
import { extendDeadline } from '../connection/deadlines.js';
import { type Authenticator, READING_TYPES } from '../request/authenticate.js';
import { addJsonParser, refuseEncoding } from '../request/body.js';
import { openedProject, sendingKey } from '../request/opened.js';
import { readParameters, requireNoParameters } from '../request/parameters.js';
import { getClientAddress, getParameter, getProjectId } from '../request/target.js';
import {
  CorrectionPath,
  CorrectionSchema,
  CorrectionsParameters,
  CorrectionsSchema,
  errorResponses,
  jsonResponse,
  NoParameters,
  ProjectPath,
} from '../schemas/schemas.js';
import { addResource } from '../server/resource.js';
import { sendLists, writeList } from './lists.js';

const PATH = '/v1/analytics/:projectId/assistant/corrections';

/** In a context of its own, because its bodies have other limits than those of recordings. */
export async function addCorrections(
  app: FastifyInstance,
  target: CorrectionTarget,
  authenticator: Authenticator,
): Promise<void> {
  await app.register(async (own) => {
    own.removeAllContentTypeParsers();
    addJsonParser(own, correctionBytesMax, correctionPartsMax);
    const handlers = createCorrectionHandlers(target);
    addResource(own, PATH, {
      onRequest: (request, reply) =>
        authenticator.authorize(request, reply, getProjectId(request), [
          ...(request.method === 'POST' ? (['admin'] as const) : READING_TYPES),
        ]),
      GET: { schema: LIST, attachValidation: true, handler: handlers.list },
      POST: {
        config: { bodyCountsAs: 'correctionsBytes' },
        schema: CORRECT,
        links: { 200: TO_CORRECTION, 202: TO_CORRECTION },
        attachValidation: true,
        preParsing: refuseEncoding,
        handler: (request, reply) => {
          const name = formatSender({ kind: 'key', keyId: sendingKey(request).id });
          return handlers.correct(request, reply, name);
        },
      },
    });
    addResource(own, `${PATH}/:correctionId`, {
      onRequest: (request, reply) =>
        authenticator.authorize(request, reply, getProjectId(request), READING_TYPES),
      GET: { schema: FIND, attachValidation: true, handler: handlers.find },
    });
  });
}

/** `name` is who corrects. The request must be authorized for its project. */
export function createCorrectionHandlers(target: CorrectionTarget) {
  const { store, clock } = target;
  return {
    correct: async (request: FastifyRequest, reply: FastifyReply, name: string): Promise<ShownCorrection> => {
      requireNoParameters(request);
      const body = readBody(request);
      const parsed = parseCorrection(body);
      const { dryRun } = body;
      const problems = parsed.ok ? [] : [...parsed.problems];
      if (dryRun !== undefined && typeof dryRun !== 'boolean') problems.push('dryRun: is not true or false');
      if (problems.length > 0 || !parsed.ok)
        throw new CallerStatsError('invalid', 'Nothing was corrected.', { details: problems });
      if (request.validationError) throw request.validationError;
      const projectId = openedProject(request).id;
      const goOn = () => extendDeadline(request.raw, reply.raw);
      if (dryRun === true) {
        const figures = await measureCorrection(target, projectId, parsed.value, goOn);
        return showMeasured(splitRequest(parsed.value).summary, figures);
      }
      const by: Actor = { name, address: getClientAddress(request), at: clock.now() };
      const done = await correct(target, projectId, parsed.value, by, goOn);
      if (done.finishedAt === null) reply.code(202);
      return showCorrection(done);
    },
    list: async (request: FastifyRequest, reply: FastifyReply) => {
      const before = readParameters(request, { before: 'before' }, parseBefore);
      const { id, organizationId } = openedProject(request);
      return sendLists({ request, reply, owner: organizationId }, async () =>
        writeList(await listCorrections(store, id, before), 'corrections', correctionsInPiece),
      );
    },
    find: async (request: FastifyRequest): Promise<ShownCorrection> => {
      requireNoParameters(request);
      const id = getParameter(request, 'correctionId');
      const found = await store.corrections.findCorrection(openedProject(request).id, id);
      if (found === undefined) throw new CallerStatsError('not_found', 'There is no such correction.');
      return showCorrection(found);
    },
  };
}

function readBody({ body }: FastifyRequest): Readonly<Record<string, unknown>> {
  if (typeof body === 'object' && body !== null && !Array.isArray(body))
    return body as Readonly<Record<string, unknown>>;
  const detail = 'the body is not a correction: send an object with id, action, reason and what to correct';
  throw new CallerStatsError('invalid', 'Nothing was corrected.', { details: [detail] });
}

function parseBefore({ before }: { readonly before?: string | undefined }): Result<number | undefined> {
  if (before === undefined) return success(undefined);
  return /^[1-9]\d{0,8}$/.test(before)
    ? success(Number(before))
    : failure('before: is not what an earlier answer has as next');
}

const ERRORS = [400, 401, 403, 404, 405, 429, 500, 503] as const;

const CORRECT = {
  operationId: 'correct',
  tags: ['Corrections'],
  summary: 'Correct what was recorded',
  description:
    'Withdraws queries, so that they count nowhere any more while their ids stay known; renames the caller of queries; or undoes an ' +
    'earlier correction as a whole. It concerns the queries of `ids`, or all that match every given filter and were recorded before, ' +
    'or the imported counts of `source`. Idempotent by `id`. `dryRun` answers what would change, and changes nothing. What takes ' +
    'longer than two seconds is answered with 202, and then carried out by any server. Needs an admin key with the scope write.',
  security: [{ adminKey: [] }],
  params: ProjectPath,
  querystring: NoParameters,
  body: { content: { 'application/json': { schema: { $ref: 'CorrectionRequest' } } } },
  response: {
    200: jsonResponse(CorrectionSchema, 'The correction is done, or was a dry run.'),
    202: jsonResponse(CorrectionSchema, 'The correction is accepted, and is being carried out.'),
    ...errorResponses(...ERRORS, 409, 413, 415),
  },
};

const LIST = {
  operationId: 'listCorrections',
  tags: ['Corrections'],
  summary: 'List corrections',
  description: `The corrections of the project, the newest first, at most ${correctionsListedMax} at a time.`,
  security: [{ adminKey: [] }, { readingKey: [] }],
  params: ProjectPath,
  querystring: CorrectionsParameters,
  response: { 200: jsonResponse(CorrectionsSchema, 'The corrections.'), ...errorResponses(...ERRORS) },
};

/** How programs that read the document follow a correction. */
const TO_CORRECTION = {
  findCorrection: {
    operationId: 'findCorrection',
    parameters: { projectId: '$request.path.projectId', correctionId: '$response.body#/id' },
  },
};

const FIND = {
  operationId: 'findCorrection',
  tags: ['Corrections'],
  summary: 'Read a correction',
  description: 'A correction with its state and figures.',
  security: [{ adminKey: [] }, { readingKey: [] }],
  params: CorrectionPath,
  querystring: NoParameters,
  response: { 200: jsonResponse(CorrectionSchema, 'The correction.'), ...errorResponses(...ERRORS) },
};
