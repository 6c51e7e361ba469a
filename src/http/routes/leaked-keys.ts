/** `POST /v1/leaked-keys`: anybody who finds a leaked key can have it revoked. The request needs no key. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { hashKey, parseKeyType } from '../../domain/keys/api-key.js';
import { failure, success } from '../../domain/result.js';
import type { Clock } from '../../domain/time/clock.js';
import type { Store } from '../../storage/ports/store.js';
import type { FailureLimit } from '../admission/rate-limits.js';
import { addJsonParser, refuseEncoding } from '../request/body.js';
import { type FieldReader, readFields } from '../request/fields.js';
import { requireNoParameters } from '../request/parameters.js';
import { getClientAddress } from '../request/target.js';
import { errorResponses, jsonResponse, NoParameters, StatusSchema } from '../schemas/schemas.js';
import { addResource } from '../server/resource.js';

/** Several times the length of a key. */
const bodyBytesMax = 4096;

export async function addLeakedKeys(
  app: FastifyInstance,
  {
    store,
    clock,
    failures,
  }: { readonly store: Store; readonly clock: Clock; readonly failures: FailureLimit },
): Promise<void> {
  const handler = async (request: FastifyRequest) => {
    requireNoParameters(request);
    const { key: text } = readFields(request, { key });
    if (request.validationError) throw request.validationError;
    // It may have been copied with spaces around it.
    const leaked = text.trim();
    if (parseKeyType(leaked) !== undefined) {
      const by = { name: 'leak report', address: getClientAddress(request), at: clock.now() };
      await store.directory.revokeLeakedKey(hashKey(leaked), by);
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

/** Any text, so that text that is not a key gets the same response as a key. */
const key: FieldReader<string> = (value) =>
  typeof value === 'string' ? success(value) : failure('is missing, or not a string; send {"key": "…"}');
