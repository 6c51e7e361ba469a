/**
 * `POST /mcp`: the tools for AI assistants (Model Context Protocol, streamable HTTP without sessions), for keys that may
 * read. What the protocol refuses gets its own errors: clients negotiate versions by them.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  createStoreSource,
  LIST_PROJECTS,
  type ReportScope,
  type ReportSlots,
  type ReportSource,
  readInSlot,
} from '../../app/reading/reports.js';
import type { Applications } from '../../auth/applications/applications.js';
import { APPLICATION_TOKEN_PREFIX } from '../../auth/names.js';
import { CallerStatsError } from '../../domain/errors.js';
import { toolBatchMax, toolBodyBytesMax } from '../../domain/limits.js';
import { nextTurn } from '../../shared/pauses.js';
import type { Slots } from '../../shared/slots.js';
import type { Store } from '../../storage/ports/store.js';
import { personOf } from '../admission/rate-limits.js';
import { onFinished } from '../connection/connections.js';
import { type Authenticator, READING_TYPES } from '../request/authenticate.js';
import { addJsonParser, refuseEncoding } from '../request/body.js';
import { sendingKey } from '../request/opened.js';
import { refuseForeignOrigin } from '../request/origin.js';
import { requireNoParameters } from '../request/parameters.js';
import { errorResponses, jsonResponse, NoParameters, ToolMessageSchema } from '../schemas/schemas.js';
import { HttpError, STATUS_OF_CODE, STORE_UNAVAILABLE, unauthenticated } from '../server/errors.js';
import type { RefusalLog } from '../server/refusal-log.js';
import { addResource } from '../server/resource.js';
import { type Place, resourceOf } from './applications.js';

/** Answers a request of the protocol. `body` is its parsed body. */
export type ToolEndpoint = (call: {
  readonly source: ReportSource;
  readonly request: Request;
  readonly body: unknown;
}) => Promise<Response>;

/** The headers that the protocol knows, besides `Accept`: the response is always JSON. */
const HEADERS = /^(content-type|mcp-.+)$/;

export async function addMcp(
  app: FastifyInstance,
  {
    refusals,
    slots,
    answer,
    ...readers
  }: Readers & {
    readonly refusals: RefusalLog;
    readonly slots: Slots;
    readonly answer: ToolEndpoint;
  },
): Promise<void> {
  const scopes = new WeakMap<FastifyRequest, readonly ReportScope[]>();
  // A separate context with its own body parser.
  await app.register(async (own) => {
    own.removeAllContentTypeParsers();
    addJsonParser(own, toolBodyBytesMax);
    // The protocol asks for it, against DNS rebinding.
    own.addHook('onRequest', refuseForeignOrigin(readers.publicUrl));
    addResource(own, '/mcp', {
      onRequest: async (request, reply) => {
        scopes.set(request, await admit(readers, request, reply));
      },
      POST: {
        schema: {
          operationId: 'callTool',
          tags: ['Analytics'],
          summary: 'Tools for AI assistants',
          description:
            'The Model Context Protocol over streamable HTTP without sessions: read-only tools that list projects and read ' +
            'counts. A reading key opens its one project, an admin key all of its organization, and the token of a connected application ' +
            '(OAuth, see `/.well-known/oauth-protected-resource`) what its person may read. ' +
            `A batch, which only old revisions of the protocol have, has at most ${toolBatchMax} messages; each counts for the rate limit.`,
          security: [{ adminKey: [] }, { readingKey: [] }],
          querystring: NoParameters,
          body: { content: { 'application/json': { schema: { $ref: ToolMessageSchema.$id } } } },
          response: {
            200: jsonResponse(ToolMessageSchema, 'The response, or those of a batch.'),
            202: { description: 'The notification was received.', type: 'null' },
            400: jsonResponse(ToolMessageSchema, 'An error of the protocol, or of what precedes it.'),
            ...errorResponses(401, 403, 405, 413, 415, 429, 500, 503),
          },
        },
        attachValidation: true,
        preParsing: refuseEncoding,
        handler: async (request, reply) => {
          requireNoParameters(request);
          if (request.body === undefined) {
            throw new HttpError(
              400,
              'There is no body; send a message of the Model Context Protocol as JSON.',
            );
          }
          await requireSmallBatch(request, (count) =>
            readers.authenticator.countMore(senderOf(request), reply, count),
          );
          const all = createStoreSource(readers.store, scopes.get(request) ?? [], LIST_PROJECTS);
          const source = limitReads(all, noteErrors(request, refusals), {
            slots,
            owner: senderOf(request),
            onGone: (callback) => onFinished(request.raw, reply.raw, callback),
          });
          const asked = toWebRequest(request);
          // The first request of a process loads and compiles much: others are answered in between.
          await nextTurn();
          const response = await answer({ source, request: asked, body: request.body });
          const text = await response.text();
          if (!response.ok) refusals.refused(request, response.status);
          const type = response.headers.get('content-type');
          if (type !== null) reply.type(type);
          return reply.code(response.status).send(text);
        },
      },
    });
  });
}

interface Readers extends Place {
  readonly store: Store;
  readonly authenticator: Authenticator;
  readonly applications: Applications;
}

/** What the key, or the person whose application sends the token, may read. Refusals say where applications ask for a token. */
async function admit(
  { store, authenticator, applications, ...place }: Readers,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<readonly ReportScope[]> {
  const token = TOKEN.exec(request.headers.authorization ?? '')?.[1];
  const challenge = `Bearer resource_metadata="${resourceOf(request, place).metadata}"`;
  if (token === undefined) {
    await authenticator.authenticate(request, reply, READING_TYPES, 'read').catch((error: unknown) => {
      const isUnknown = error instanceof HttpError && error.status === 401;
      throw isUnknown ? unauthenticated(error.message, challenge) : error;
    });
    const { organizationId, projectId } = sendingKey(request);
    return [{ organizationId, projects: projectId === null ? null : [projectId] }];
  }
  const holder = await applications.holderOf(token);
  if (holder === undefined) {
    await authenticator.countFailure(request, reply);
    throw unauthenticated(
      'The token has expired or its connection was ended.',
      `${challenge}, error="invalid_token"`,
    );
  }
  request.userId = holder.id;
  await authenticator.countMore(senderOf(request), reply, 1);
  const memberships = await store.directory.listMemberships(holder.email);
  return memberships
    .filter(({ secondFactor }) => secondFactor !== 'required' || holder.hasSecondFactor)
    .map(({ organizationId, role, projects }) => ({
      organizationId,
      projects: role === 'reader' ? projects : null,
    }));
}

/** RFC 6750, section 2.1. */
const TOKEN = new RegExp(`^bearer +(${APPLICATION_TOKEN_PREFIX}\\S+) *$`, 'i');

/** Whose requests are counted together. */
function senderOf({ key, userId }: FastifyRequest): string {
  return key?.organizationId ?? personOf(String(userId));
}

/** Refuses a batch of too many messages, and counts the others than the first, which the request itself is counted for. */
async function requireSmallBatch(
  { body }: FastifyRequest,
  countMore: (count: number) => Promise<void>,
): Promise<void> {
  if (!Array.isArray(body)) return;
  if (body.length > toolBatchMax) {
    throw new HttpError(
      400,
      `The batch has more than ${toolBatchMax} messages; send each message in a request of its own.`,
    );
  }
  await countMore(body.length - 1);
}

/**
 * Logs what a tool refuses, which the protocol answers with `200`: `refused` gets the status that other routes have for it. Of a
 * store that cannot answer, only the log has the reason.
 */
function noteErrors(request: FastifyRequest, refusals: RefusalLog): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof CallerStatsError)) throw error;
    refusals.refused(request, STATUS_OF_CODE[error.code]);
    if (error.code !== 'unavailable') throw error;
    request.log.error({ err: error, reqId: request.id }, 'request failed');
    throw new CallerStatsError('unavailable', STORE_UNAVAILABLE);
  };
}

function limitReads(
  source: ReportSource,
  note: (error: unknown) => never,
  waiting: ReportSlots,
): ReportSource {
  return {
    recordingBegan: (projectId, timeZone) => source.recordingBegan(projectId, timeZone).catch(note),
    read: (report, projectId, ask, input) =>
      readInSlot(waiting, report, input, () => source.read(report, projectId, ask, input)).catch(note),
    projects: () => readInSlot(waiting, { isLong: true }, {}, source.projects).catch(note),
  };
}

function toWebRequest({ headers }: FastifyRequest): Request {
  const known = Object.entries(headers).filter(([name]) => HEADERS.test(name));
  // The protocol does not use the address.
  return new Request('http://localhost/mcp', {
    method: 'POST',
    headers: [
      ['accept', 'application/json, text/event-stream'],
      ...known.map(([name, value]): [string, string] => [name, String(value)]),
    ],
  });
}
