/** API keys. These routes need a session; an API key cannot manage keys. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { keyToJson } from '../../../app/json.js';
import { createKey, rotateKey } from '../../../app/keys.js';
import { KEY_TYPES, type KeyType } from '../../../domain/keys/api-key.js';
import type { CreatedKey } from '../../../domain/keys/new-key.js';
import { keyGraceDaysMax } from '../../../domain/limits.js';
import { failure, type Result, success } from '../../../domain/result.js';
import { hourMs } from '../../../domain/time/duration.js';
import type { KeyChange } from '../../../storage/ports/store.js';
import { addResource } from '../../resource.js';
import type { Dashboard } from '../context.js';
import { optional, readFields, text, texts } from '../fields.js';
import { created, getOrganizationId } from '../requests.js';
import type { CreatedKeyResponse } from '../responses.js';

const KEYS = '/api/organizations/:organizationId/keys';

export function addKeys(app: FastifyInstance, dashboard: Dashboard): void {
  addListAndCreate(app, dashboard);
  addRotation(app, dashboard);
  for (const change of ['disable', 'enable', 'revoke'] as const) addChange(app, dashboard, change);
}

function addListAndCreate(app: FastifyInstance, dashboard: Dashboard): void {
  const { store, clock, sessionGuard } = dashboard;
  addResource(app, KEYS, {
    onRequest: sessionGuard.requireMember('editor'),
    GET: async (request) => {
      const keys = await store.listKeys(getOrganizationId(request));
      return { keys: keys.map((key) => keyToJson(key, clock.now())) };
    },
    POST: async (request, reply) => {
      const by = sessionGuard.getActor(request);
      const { projectId, scopes, ...fields } = readFields(request, {
        name: text,
        type: keyType,
        projectId: optional(text),
        expires: optional(text),
        scopes: optional(texts),
        allow: optional(texts),
      });
      const wanted = { ...fields, project: projectId, scope: scopes?.join() };
      const newKey = await createKey(dashboard, getOrganizationId(request), wanted, by);
      return created(reply, toCreatedResponse(newKey, by.at));
    },
  });
}

function addRotation(app: FastifyInstance, dashboard: Dashboard): void {
  const { sessionGuard } = dashboard;
  addResource(app, `${KEYS}/:keyId/rotate`, {
    onRequest: sessionGuard.requireMember('editor'),
    POST: async (request, reply) => {
      const { graceHours } = readFields(request, { graceHours: hours });
      const by = sessionGuard.getActor(request);
      const organizationId = getOrganizationId(request);
      const wanted = { organizationId, id: getKeyId(request), graceMs: graceHours * hourMs };
      const { successor } = await rotateKey(dashboard, wanted, by);
      return created(reply, toCreatedResponse(successor, by.at));
    },
  });
}

function addChange(app: FastifyInstance, { store, clock, sessionGuard }: Dashboard, change: KeyChange): void {
  addResource(app, `${KEYS}/:keyId/${change}`, {
    onRequest: sessionGuard.requireMember('editor'),
    POST: async (request) => {
      readFields(request, {});
      const by = sessionGuard.getActor(request);
      const key = await store.changeKey(getOrganizationId(request), getKeyId(request), change, by);
      return keyToJson(key, clock.now());
    },
  });
}

function getKeyId(request: FastifyRequest): string {
  return (request.params as { keyId: string }).keyId;
}

/** The only response with the key itself. */
function toCreatedResponse({ key, secret }: CreatedKey, nowMs: number): CreatedKeyResponse {
  return { key: keyToJson(key, nowMs), secret };
}

function keyType(value: unknown): Result<KeyType> {
  const known = KEY_TYPES.find((one) => one === value);
  return known === undefined ? failure(`is none of ${KEY_TYPES.join(', ')}`) : success(known);
}

function hours(value: unknown): Result<number> {
  const max = keyGraceDaysMax * 24;
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max
    ? success(value)
    : failure(`is not a whole number of hours from 0 to ${max}`);
}
