/** `GET /api/session`: what every page loads first. It needs no session. */
import type { FastifyInstance } from 'fastify';
import { findRelyingParty } from '../../../auth/passkeys/relying-party.js';
import { DEFAULT_EXPIRY } from '../../../domain/keys/key-lifetime.js';
import { keyGraceDaysMax } from '../../../domain/limits.js';
import { dayMs } from '../../../domain/time/duration.js';
import { addResource } from '../../resource.js';
import type { Dashboard } from '../context.js';
import { originOf, setCookies, toAuthRequest } from '../requests.js';
import type { SessionResponse } from '../responses.js';

/** The choices for the expiry of a new key (contract, part 2). */
const EXPIRY_DAYS = [7, 30, 60, 90];

export function addSession(app: FastifyInstance, dashboard: Dashboard): void {
  const { users, passkeys, authProvider, store, singleSignOnName, keyPrefix, keyLifeMax, version } =
    dashboard;
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
      const relyingParty = findRelyingParty(authProvider.publicUrl, originOf(request));
      const passkeyProblem = 'problem' in relyingParty ? relyingParty.problem : null;
      if (found === undefined) {
        const setUp = await store.isSetUpOpen();
        return { user: null, organizations: [], setUp, passkeyProblem, ...about };
      }
      setCookies(reply, found);
      const { user, session } = found;
      const memberships = await store.listMemberships(user.email);
      const hasSecondFactor = await users.hasSecondFactor(user, session);
      return {
        user: {
          email: user.email,
          name: user.name,
          hasPassword: await users.hasPassword(user),
          secondFactor: user.codes || (await passkeys.list(user)).length > 0,
          codes: user.codes,
          session: session.id,
        },
        organizations: memberships.map(({ organizationId, organizationName, role, secondFactor }) => ({
          id: organizationId,
          name: organizationName,
          role,
          secondFactor,
          locked: secondFactor === 'required' && !hasSecondFactor,
        })),
        version,
        setUp: false,
        passkeyProblem,
        ...about,
      };
    },
  });
}
