/** Signing in and out: with a password and a second factor, or with single sign-on. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { SINGLE_SIGN_ON_CALLBACK, SINGLE_SIGN_ON_PATH, type SignInProblem } from '../../../auth/names.js';
import { toOwnPath } from '../../../domain/own-path.js';
import { email, flag, optional, readFields, text } from '../../request/fields.js';
import { getClientAddress } from '../../request/target.js';
import { addResource } from '../../server/resource.js';
import type { Dashboard } from '../context.js';
import { noContent, setCookies, toAuthRequest } from '../requests.js';

export function addSignIn(app: FastifyInstance, dashboard: Dashboard): void {
  const { users, store, sessionGuard, loginThrottle, authProvider } = dashboard;
  addResource(app, '/api/sign-in', {
    POST: async (request, reply) => {
      const fields = readFields(request, { email, password: text });
      const answered = await loginThrottle.attempt(request, fields, () =>
        users.signIn(toAuthRequest(request), fields),
      );
      setCookies(reply, answered);
      // With a second factor, the browser is trusted only after that, too.
      if (!answered.secondFactor)
        await loginThrottle.succeeded(request, reply, { email: fields.email, how: 'with a password' });
      return { secondFactor: answered.secondFactor };
    },
  });
  addResource(app, '/api/sign-in/second-factor', {
    POST: async (request, reply) => {
      const { code, trustDevice = false } = readFields(request, {
        code: text,
        trustDevice: optional(flag),
      });
      const answered = await users.verifySecondFactor(toAuthRequest(request), {
        code: code.trim(),
        trustDevice,
      });
      setCookies(reply, answered);
      const how = `with ${answered.kind} as the second factor`;
      await loginThrottle.succeeded(request, reply, { email: answered.email, how });
      if (trustDevice) await recordTrust(dashboard, request, answered.email);
      return noContent(reply);
    },
  });
  addResource(app, '/api/sign-out', {
    POST: async (request, reply) => {
      readFields(request, {});
      const auth = toAuthRequest(request);
      const found = await users.findSession(auth);
      setCookies(reply, await users.signOut(auth));
      if (found !== undefined) {
        authProvider.log.count('session_end');
        const { email } = found.user;
        const detail = 'signed out';
        await store.directory.logUserChange(
          email,
          { action: 'user.session_end', detail },
          sessionGuard.getActor(request, email),
        );
      }
      return noContent(reply);
    },
  });
}

/** After a user trusted the device in the second step. */
export async function recordTrust(
  { store, sessionGuard, authProvider }: Pick<Dashboard, 'store' | 'sessionGuard' | 'authProvider'>,
  request: FastifyRequest,
  email: string,
): Promise<void> {
  authProvider.log.count('trust');
  const change = { action: 'user.trust', detail: 'granted to a device' } as const;
  await store.directory.logUserChange(email, change, sessionGuard.getActor(request, email));
}

export function addSingleSignOn(
  app: FastifyInstance,
  { users, basePath, singleSignOn, authProvider, refusals }: Dashboard,
): void {
  if (!singleSignOn) return;
  addResource(app, SINGLE_SIGN_ON_PATH, {
    GET: async (request, reply) => {
      const { to: asked } = request.query as { to?: unknown };
      const to = (typeof asked === 'string' && toOwnPath(asked)) || '/';
      // A link of another site must not sign anybody in: the page asks first.
      const site = request.headers['sec-fetch-site'];
      if (site !== undefined && site !== 'same-origin' && site !== 'none')
        return reply.redirect(`${basePath}/sign-in?to=${encodeURIComponent(to)}`);
      const started = await users.startSingleSignOn(toAuthRequest(request), to);
      if (started === undefined) return reply.redirect(`${basePath}/sign-in?problem=failed`);
      setCookies(reply, started);
      return reply.redirect(started.url);
    },
  });
  addResource(app, SINGLE_SIGN_ON_CALLBACK, {
    GET: async (request, reply) => {
      const { headers, email } = await users.finishSingleSignOn(
        toAuthRequest(request),
        request.originalUrl.split('?')[1] ?? '',
      );
      setCookies(reply, { cookies: headers.getSetCookie() });
      const { location, problem } = translateProblem(headers.get('location'), basePath);
      if (problem !== undefined) refusals.refused(request, 302, problem);
      // Without a user, the sign-in page tells a problem, or asks for the second factor.
      if (email !== undefined) {
        const address = getClientAddress(request);
        await authProvider.log.signedIn({ email, address, how: 'with single sign-on' });
      }
      return reply.redirect(location);
    },
  });
}

/** The problems that the sign-in page has messages for. */
const EXPLAINED: readonly string[] = [
  'not_a_member',
  'unverified_email',
  'linked_to_another',
  'address_changed',
] satisfies SignInProblem[];

/** The library's redirect, with its error replaced by one that the sign-in page knows. */
function translateProblem(
  location: string | null,
  basePath: string,
): { readonly location: string; readonly problem?: string } {
  const [path = '', query = ''] = (location ?? `${basePath}/sign-in?error=failed`).split('?');
  const error = new URLSearchParams(query).get('error');
  if (error === null) return { location: location ?? `${basePath}/` };
  const problem = EXPLAINED.includes(error) ? error : 'failed';
  return { location: `${path}?problem=${problem}`, problem };
}
