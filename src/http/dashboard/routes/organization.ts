/** An organization itself. */
import type { FastifyInstance } from 'fastify';
import { organizationToJson } from '../../../app/json.js';
import { CallerStatsError } from '../../../domain/errors.js';
import { SECOND_FACTOR_RULES } from '../../../domain/projects/organization.js';
import { oneOf } from '../../../domain/result.js';
import { name, optional, readFields } from '../../request/fields.js';
import type { Dashboard } from '../context.js';

export function addOrganization(app: FastifyInstance, { users, store, sessionGuard }: Dashboard): void {
  sessionGuard.addMemberResource(app, '', 'owner', {
    PATCH: async ({ organizationId, user, session, by }, request) => {
      const { name: newName, secondFactor } = readFields(request, {
        name: optional(name),
        secondFactor: optional(oneOf(SECOND_FACTOR_RULES)),
      });
      if (secondFactor === 'required' && !(await users.hasSecondFactor(user, session)))
        throw new CallerStatsError('invalid', 'Set up a second factor for yourself first.');
      const change = {
        ...(newName === undefined ? {} : { name: newName }),
        ...(secondFactor === undefined ? {} : { secondFactor }),
      };
      return organizationToJson(await store.directory.changeOrganization(organizationId, change, by));
    },
  });
}
