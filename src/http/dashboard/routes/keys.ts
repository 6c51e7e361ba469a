/** API keys. These routes need a session; an API key cannot manage keys. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { keyToJson } from '../../../app/json.js';
import { createKey, rotateKey } from '../../../app/keys.js';
import { KEY_TYPES } from '../../../domain/keys/api-key.js';
import type { CreatedKey } from '../../../domain/keys/new-key.js';
import { keyGraceDaysMax } from '../../../domain/limits.js';
import { failure, oneOf, type Result, success } from '../../../domain/result.js';
import { hourMs } from '../../../domain/time/duration.js';
import { optional, readFields, text, texts } from '../../request/fields.js';
import { getParameter } from '../../request/target.js';
import { sendLists, writeList } from '../../routes/lists.js';
import type { Dashboard } from '../context.js';
import { created } from '../requests.js';
import type { CreatedKeyResponse } from '../responses.js';

export function addKeys(app: FastifyInstance, dashboard: Dashboard): void {
  const { store, clock, sessionGuard } = dashboard;
  sessionGuard.addMemberResource(app, '/keys', 'editor', {
    GET: ({ organizationId }, request, reply) =>
      sendLists({ request, reply, owner: organizationId }, async () => {
        const keys = await store.directory.listKeys(organizationId);
        return writeList({ keys: keys.map((key) => keyToJson(key, clock.now())) }, 'keys');
      }),
    POST: async ({ organizationId, by }, request, reply) => {
      const { projectId, scopes, ...fields } = readFields(request, {
        name: text,
        type: oneOf(KEY_TYPES),
        projectId: optional(text),
        expires: optional(text),
        scopes: optional(texts),
        allow: optional(texts),
      });
      const wanted = { ...fields, project: projectId, scope: scopes?.join() };
      const newKey = await createKey(dashboard, organizationId, wanted, by);
      return created(reply, toCreatedResponse(newKey, by.at));
    },
  });
  sessionGuard.addMemberResource(app, '/keys/:keyId/rotate', 'editor', {
    POST: async ({ organizationId, by }, request, reply) => {
      const { graceHours } = readFields(request, { graceHours: hours });
      const wanted = { organizationId, id: getKeyId(request), graceMs: graceHours * hourMs };
      const { successor } = await rotateKey(dashboard, wanted, by);
      return created(reply, toCreatedResponse(successor, by.at));
    },
  });
  for (const change of ['disable', 'enable', 'revoke'] as const) {
    sessionGuard.addMemberResource(app, `/keys/:keyId/${change}`, 'editor', {
      POST: async ({ organizationId, by }, request) => {
        readFields(request, {});
        const key = await store.directory.changeKey(organizationId, getKeyId(request), change, by);
        return keyToJson(key, clock.now());
      },
    });
  }
}

function getKeyId(request: FastifyRequest): string {
  return getParameter(request, 'keyId');
}

/** The only response with the key itself. */
function toCreatedResponse({ key, secret }: CreatedKey, nowMs: number): CreatedKeyResponse {
  return { key: keyToJson(key, nowMs), secret };
}

function hours(value: unknown): Result<number> {
  const max = keyGraceDaysMax * 24;
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max
    ? success(value)
    : failure(`is not a whole number of hours from 0 to ${max}`);
}
