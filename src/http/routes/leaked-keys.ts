/** `POST /v1/leaked-keys`: anybody who finds a leaked key can have it revoked. The request needs no key. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { CallerStatsError } from '../../domain/errors.js';
import { hashKey, parseKeyType } from '../../domain/keys/api-key.js';
import { unknownNameMessage } from '../../domain/suggest.js';
import type { Clock } from '../../domain/time/clock.js';
import type { Store } from '../../storage/ports/store.js';
import type { RateLimit } from '../admission/rate-limits.js';
import { addJsonParser, refuseEncoding } from '../request/body.js';
import { requireNoParameters } from '../request/parameters.js';
import { getClientAddress } from '../request/target.js';
import { addResource } from '../resource.js';
import { errorResponses, jsonResponse, NoParameters, StatusSchema } from '../schemas/schemas.js';

/** Several times the length of a key. */
const bodyBytesMax = 4096;

export async function addLeakedKeys(
  app: FastifyInstance,
  { store, clock, failures }: { readonly store: Store; readonly clock: Clock; readonly failures: RateLimit },
): Promise<void> {
  const handler = async (request: FastifyRequest) => {
    requireNoParameters(request);
    // It may have been copied with spaces around it.
    const key = readLeakedKey(request).trim();
    if (parseKeyType(key) !== undefined) {
      const by = { name: 'leak report', address: getClientAddress(request), at: clock.now() };
      await store.revokeLeakedKey(hashKey(key), by);
    }
    return { status: 'received' };
  };
  // A separate context with its own body parser: requests without a key must not send large bodies.
  await app.register(async (own) => {
    own.removeAllContentTypeParsers();
    addJsonParser(own, bodyBytesMax);
    addResource(own, '/v1/leaked-keys', {
      // Above the limit no body is read.
      onRequest: async (request, reply) => {
        await failures.consume(getClientAddress(request), reply);
      },
      POST: {
        schema: {
          operationId: 'reportLeakedKey',
          tags: ['Keys'],
          summary: 'Report a leaked key',
          description:
            'Revokes the key, if it is valid, and adds an entry to the audit log. The response is the same for an unknown key.',
          security: [],
          querystring: NoParameters,
          body: { content: { 'application/json': { schema: { $ref: 'LeakedKey' } } } },
          response: {
            200: jsonResponse(StatusSchema, 'The report was received.'),
            ...errorResponses(400, 405, 413, 415, 429, 500, 503),
          },
        },
        attachValidation: true,
        preParsing: refuseEncoding,
        handler,
      },
    });
  });
}

/** `400` for anything but `{"key": "…"}`. */
function readLeakedKey(request: FastifyRequest): string {
  const { body } = request;
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
  const { key, ...rest } = (isObject ? body : {}) as Record<string, unknown>;
  const problems = [
    ...(typeof key === 'string' ? [] : ['key: is missing, or not a string; send {"key": "…"}']),
    ...Object.keys(rest)
      .slice(0, 1)
      .map((name) => unknownNameMessage('field', name, ['key'])),
  ];
  if (problems.length > 0 || typeof key !== 'string') {
    throw new CallerStatsError('invalid', 'The report is invalid.', { details: problems });
  }
  if (request.validationError) throw request.validationError;
  return key;
}
