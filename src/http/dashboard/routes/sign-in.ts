/** Signing in and out: by password and second factor, or at a provider of single sign-on. */
import type { FastifyInstance } from 'fastify';
import { SINGLE_SIGN_ON_PATH } from '../../../auth/names.js';
import { addResource } from '../../resource.js';
import type { Dashboard } from '../context.js';
import { email, flag, optional, readFields, text } from '../fields.js';
import { noContent, setCookies, toAuthRequest } from '../requests.js';

export function addSignIn(app: FastifyInstance, dashboard: Dashboard): void {
  addPassword(app, dashboard);
  addSecondFactor(app, dashboard);
  addSignOut(app, dashboard);
  if (dashboard.singleSignOnName !== undefined) addSingleSignOn(app, dashboard);
}

function addPassword(app: FastifyInstance, { users, loginThrottle }: Dashboard): void {
  addResource(app, '/api/sign-in', {
    POST: async (request, reply) => {
      const fields = readFields(request, { email, password: text });
      const answered = await loginThrottle.attempt(request, fields.email, () =>
        users.signIn(toAuthRequest(request), fields),
      );
      setCookies(reply, answered);
      // Known is only who had the second factor too.
      if (!answered.secondFactor) await loginThrottle.succeeded(request, reply, fields.email);
      return { secondFactor: answered.secondFactor };
    },
  });
}

function addSecondFactor(app: FastifyInstance, { users, loginThrottle }: Dashboard): void {
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
      await loginThrottle.succeeded(request, reply, answered.email);
      return noContent(reply);
    },
  });
}

function addSignOut(app: FastifyInstance, { users }: Dashboard): void {
  addResource(app, '/api/sign-out', {
    POST: async (request, reply) => {
      readFields(request, {});
      setCookies(reply, await users.signOut(toAuthRequest(request)));
      return noContent(reply);
    },
  });
}

function addSingleSignOn(app: FastifyInstance, { users, basePath }: Dashboard): void {
  addResource(app, SINGLE_SIGN_ON_PATH, {
    GET: async (request, reply) => {
      const { to } = request.query as { to?: unknown };
      const started = await users.startSingleSignOn(toAuthRequest(request), isOwnPath(to) ? to : '/');
      if (started === undefined) return reply.redirect(`${basePath}/sign-in?problem=failed`);
      setCookies(reply, started);
      return reply.redirect(started.url);
    },
  });
  addResource(app, `${SINGLE_SIGN_ON_PATH}/callback/:provider`, {
    GET: async (request, reply) => {
      const { headers } = await users.finishSingleSignOn(toAuthRequest(request), request.originalUrl);
      setCookies(reply, { cookies: headers.getSetCookie() });
      return reply.redirect(explained(headers.get('location'), basePath));
    },
  });
}

/** A path of this server, not what a browser would take for another's. */
function isOwnPath(to: unknown): to is string {
  return typeof to === 'string' && /^\/(?![/\\])[^\\\s]*$/.test(to);
}

const EXPLAINED = ['not_a_member', 'unverified_email'];

/** Where the library sends the browser; what it could not do, in the words that the sign-in page knows. */
function explained(location: string | null, basePath: string): string {
  const [path = '', query = ''] = (location ?? `${basePath}/sign-in?error=failed`).split('?');
  const problem = new URLSearchParams(query).get('error');
  if (problem === null) return location ?? `${basePath}/`;
  return `${path}?problem=${EXPLAINED.includes(problem) ? problem : 'failed'}`;
}
