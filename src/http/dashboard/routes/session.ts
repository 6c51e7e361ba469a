/** `GET /api/session`: what every page loads first. It needs no session. */
import type { FastifyInstance } from 'fastify';
import { DEFAULT_EXPIRY } from '../../../domain/keys/key-lifetime.js';
import { keyGraceDaysMax } from '../../../domain/limits.js';
import { dayMs } from '../../../domain/time/duration.js';
import { addResource } from '../../resource.js';
import type { Dashboard } from '../context.js';
import { setCookies, toAuthRequest } from '../requests.js';
import type { SessionResponse } from '../responses.js';

/** The choices for the expiry of a new key (contract, part 2). */
const EXPIRY_DAYS = [7, 30, 60, 90];

export function addSession(app: FastifyInstance, dashboard: Dashboard): void {
  const { users, store, singleSignOnName, keyPrefix, keyLifeMax, version } = dashboard;
  const about = {
    singleSignOn: singleSignOnName === undefined ? null : { name: singleSignOnName },
    keys: {
      prefix: keyPrefix,
      lifeDaysMax: keyLifeMax === null ? null : keyLifeMax / dayMs,
      expiryDays: EXPIRY_DAYS.filter((days) => keyLifeMax === null || days * dayMs <= keyLifeMax),
      expiryDaysDefault: Math.min(
        Number.parseInt(DEFAULT_EXPIRY, 10),
        (keyLifeMax ?? Number.MAX_VALUE) / dayMs,
      ),
      graceDaysMax: keyGraceDaysMax,
    },
  };
  addResource(app, '/api/session', {
    GET: async (request, reply): Promise<SessionResponse> => {
      const found = await users.findSession(toAuthRequest(request));
      if (found === undefined) {
        return { user: null, organizations: [], setUp: await store.isSetUpOpen(), ...about };
      }
      setCookies(reply, found);
      const { user, session } = found;
      const memberships = await store.listMemberships(user.email);
      return {
        user: {
          email: user.email,
          name: user.name,
          hasPassword: await users.hasPassword(user),
          secondFactor: user.secondFactor,
          session: session.id,
        },
        organizations: memberships.map(({ organizationId, organizationName, role }) => ({
          id: organizationId,
          name: organizationName,
          role,
        })),
        version,
        setUp: false,
        ...about,
      };
    },
  });
}
