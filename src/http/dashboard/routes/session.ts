/** Who is signed in, and what every page needs to know of the server. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { rightsToJson } from '../../../app/json.js';
import { findRelyingParty } from '../../../auth/passkeys/relying-party.js';
import { defaultExpiry } from '../../../domain/keys/key-lifetime.js';
import { keyGraceDaysMax } from '../../../domain/limits.js';
import { dayMs } from '../../../domain/time/duration.js';
import { listTimeZones } from '../../../domain/time/time-zone.js';
import { sendLists } from '../../routes/lists.js';
import { addResource } from '../../server/resource.js';
import type { Dashboard } from '../context.js';
import { originOf, setCookies, toAuthRequest } from '../requests.js';
import type { SessionResponse, StartResponse, ZonesResponse } from '../responses.js';
import { toOffer } from './organization.js';
import { writeProjects } from './projects.js';

/** The choices for the expiry of a new key, as in docs/guides/run/keys.md. */
const EXPIRY_DAYS = [7, 30, 60, 90];

export function addSession(app: FastifyInstance, dashboard: Dashboard): void {
  const readSession = createSessionReader(dashboard);
  addResource(app, '/api/session', { GET: readSession });
  addResource(app, '/api/start', {
    GET: async (request, reply) => {
      const session = await readSession(request, reply);
      const open = session.organizations.filter(({ locked }) => !locked);
      const empty: StartResponse = { session, projects: {} };
      if (session.user === null || open.length === 0) return empty;
      return sendLists({ request, reply, owner: session.user.email }, async () => {
        // An id has no characters that JSON escapes.
        const written = open.map(async ({ id, role, projects = [] }, at) => [
          Buffer.from(`${at === 0 ? '' : ','}"${id}":`),
          await writeProjects(dashboard, { organizationId: id, role, projects }),
        ]);
        const begin = JSON.stringify(empty).slice(0, -2);
        return Buffer.concat([Buffer.from(begin), ...(await Promise.all(written)).flat(), Buffer.from('}}')]);
      });
    },
  });
  addResource(app, '/api/zones', { GET: async (): Promise<ZonesResponse> => ({ names: listTimeZones() }) });
}

function createSessionReader(dashboard: Dashboard) {
  const { users, passkeys, authProvider, sessionGuard, store, clock, version } = dashboard;
  const about = describeServer(dashboard);
  return async (request: FastifyRequest, reply: FastifyReply): Promise<SessionResponse> => {
    const found = await users.findSession(toAuthRequest(request));
    const relyingParty = findRelyingParty(authProvider.publicUrl, originOf(request));
    const passkeyProblem = 'problem' in relyingParty ? relyingParty.problem : null;
    if (found === undefined) {
      const setUp = await store.directory.isSetUpOpen();
      return { user: null, organizations: [], invitations: [], setUp, passkeyProblem, ...about };
    }
    setCookies(reply, found);
    const { user, session } = found;
    request.userId = user.id;
    await sessionGuard.count(user, reply);
    const memberships = await store.directory.listMemberships(user.email);
    const invitations = user.isVerified
      ? await store.directory.listInvitationsFor(user.email, clock.now())
      : [];
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
      organizations: memberships.map(({ organizationId, organizationName, secondFactor, ...rights }) => ({
        id: organizationId,
        name: organizationName,
        ...rightsToJson(rights),
        secondFactor,
        locked: secondFactor === 'required' && !hasSecondFactor,
      })),
      invitations: invitations.map((one) => ({ id: one.id, ...toOffer(one) })),
      version,
      setUp: false,
      passkeyProblem,
      ...about,
    };
  };
}

function describeServer({ singleSignOn, keyPrefix, keyLifeMax, shareLinks, resetMails }: Dashboard) {
  const lifeDaysMax = keyLifeMax === null ? null : keyLifeMax / dayMs;
  const shorter = EXPIRY_DAYS.filter((days) => lifeDaysMax === null || days < lifeDaysMax);
  return {
    shareLinks,
    singleSignOn,
    resetMails: resetMails.isOffered,
    keys: {
      prefix: keyPrefix,
      lifeDaysMax,
      expiryDays: lifeDaysMax === null ? shorter : [...shorter, lifeDaysMax],
      expiryDefaults: {
        admin: defaultExpiry('admin', keyLifeMax),
        recording: defaultExpiry('recording', keyLifeMax),
        reading: defaultExpiry('reading', keyLifeMax),
      },
      graceDaysMax: keyGraceDaysMax,
    },
  };
}
