/** Applications that people connect: a page asks whether one may read in their name. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { CodeRequest } from '../../../auth/applications/applications.js';
import { CallerStatsError } from '../../../domain/errors.js';
import { formatTime } from '../../../domain/format.js';
import { flag, readFields, text } from '../../request/fields.js';
import { getClientAddress, getParameter } from '../../request/target.js';
import { addressOf, repeatsOne, resourceOf } from '../../routes/applications.js';
import type { Dashboard } from '../context.js';
import type { ApplicationResponse, AskedResponse } from '../responses.js';

/** The hash of a secret (RFC 7636, S256). */
const CHALLENGE = /^[\w-]{43}$/;

export function addConnectedApplications(app: FastifyInstance, dashboard: Dashboard): void {
  const { applications, sessionGuard, store } = dashboard;
  const place = { basePath: dashboard.basePath, publicUrl: dashboard.authProvider.publicUrl };

  /** What the application asks for, or where to return to if its request is invalid. Throws for one that is not registered. */
  async function readAsked(request: FastifyRequest, query: string) {
    const given = new URLSearchParams(query);
    const field = (name: string): string => (given.getAll(name).length > 1 ? '' : (given.get(name) ?? ''));
    const asked = {
      clientId: field('client_id'),
      redirectUri: field('redirect_uri'),
      challenge: field('code_challenge'),
    } satisfies CodeRequest;
    const client = await applications.find(asked);
    if (client === undefined)
      throw new CallerStatsError(
        'invalid',
        'The application is not registered here, or not with this address to return to. Remove it from your assistant, and connect it again.',
      );
    const redirect = (answer: Readonly<Record<string, string>>): string => {
      const url = new URL(asked.redirectUri);
      const state = field('state');
      const parts = { ...answer, ...(state !== '' && { state }), iss: addressOf(request, place) };
      for (const [name, value] of Object.entries(parts)) url.searchParams.set(name, value);
      return url.href;
    };
    const resources = given.getAll('resource').map((one) => one.replace(/\/$/, ''));
    const problem =
      field('response_type') !== 'code'
        ? 'unsupported_response_type'
        : repeatsOne(given) || !CHALLENGE.test(asked.challenge) || field('code_challenge_method') !== 'S256'
          ? 'invalid_request'
          : resources.some((one) => one !== '' && one !== resourceOf(request, place).resource)
            ? 'invalid_target'
            : undefined;
    return { asked, client, redirect, wrong: problem && redirect({ error: problem }) };
  }

  sessionGuard.addUserResource(app, '/api/applications/look-up', {
    POST: async (_signedIn, request): Promise<AskedResponse> => {
      const { asked, client, wrong } = await readAsked(request, readFields(request, { query: text }).query);
      return { name: client.name, returnsTo: placeOf(asked.redirectUri), redirect: wrong ?? null };
    },
  });
  sessionGuard.addUserResource(app, '/api/applications', {
    GET: async ({ user }): Promise<{ applications: ApplicationResponse[] }> => ({
      applications: (await applications.list(user.id)).map(({ usedAt, ...one }) => ({
        ...one,
        usedAt: formatTime(usedAt),
      })),
    }),
    POST: async ({ user, session, by }, request): Promise<{ redirect: string }> => {
      const { query, allow } = readFields(request, { query: text, allow: flag });
      const { asked, client, redirect, wrong } = await readAsked(request, query);
      if (wrong !== undefined) return { redirect: wrong };
      if (!allow) return { redirect: redirect({ error: 'access_denied' }) };
      const code = await applications.allow(asked, {
        userId: user.id,
        name: client.name,
        address: getClientAddress(request),
        providerFactor: session.providerFactor,
      });
      const change = { action: 'user.application', detail: `connected: ${client.name}` } as const;
      await store.directory.logUserChange(user.email, change, by);
      return { redirect: redirect({ code }) };
    },
  });
  sessionGuard.addUserResource(app, '/api/applications/:applicationId', {
    DELETE: async ({ user, by }, request) => {
      const name = await applications.end(user.id, getParameter(request, 'applicationId'));
      if (name === undefined)
        throw new CallerStatsError(
          'not_found',
          'This application is not connected; its connection may have ended already.',
        );
      const change = { action: 'user.application', detail: `disconnected: ${name}` } as const;
      await store.directory.logUserChange(user.email, change, by);
    },
  });
}

/** The host of a website. Of an app, its scheme: the host after that can be any, even that of a website. */
function placeOf(redirectUri: string): string {
  const { host, protocol } = new URL(redirectUri);
  return ['https:', 'http:'].includes(protocol) ? host : `an app on this device (${protocol})`;
}
