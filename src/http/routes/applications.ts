/**
 * What applications need to connect to `/mcp` in the name of a person, as chat assistants expect it: where to ask (RFC 9728,
 * RFC 8414), registration (RFC 7591), and tokens for codes (OAuth 2.1). People allow it on a page of the dashboard.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Applications, Tokens } from '../../auth/applications/applications.js';
import { parseRegistration } from '../../auth/applications/registration.js';
import { applicationAccessSeconds, dashboardBodyBytesMax } from '../../domain/limits.js';
import type { FailureLimit } from '../admission/rate-limits.js';
import type { BasePath } from '../request/base-path.js';
import { addJsonParser, refuseEncoding } from '../request/body.js';
import { refuseForeignOrigin } from '../request/origin.js';
import { getClientAddress } from '../request/target.js';
import type { RefusalLog } from '../server/refusal-log.js';
import { addResource } from '../server/resource.js';

/** The only thing that applications may do: read counts. */
const APPLICATION_SCOPE = 'read';

/** Stands for a form that has a parameter more than once. */
const REPEATED = Symbol('repeated');

/** Whether a parameter is sent more than once (RFC 6749, sections 3.1 and 3.2: none may be), other than the resource (RFC 8707). */
export function repeatsOne(fields: URLSearchParams): boolean {
  const names = [...fields.keys()].filter((name) => name !== 'resource');
  return new Set(names).size < names.length;
}

export interface Place {
  readonly basePath: BasePath;
  readonly publicUrl: string | undefined;
}

/** The address of this server for the client. */
export function addressOf({ protocol, headers }: FastifyRequest, { basePath, publicUrl }: Place): string {
  return `${publicUrl ?? `${protocol}://${headers.host}`}${basePath}`;
}

/** The address of the resource, and of what describes it. */
export function resourceOf(request: FastifyRequest, place: Place) {
  const issuer = addressOf(request, place);
  return { issuer, resource: `${issuer}/mcp`, metadata: `${issuer}/.well-known/oauth-protected-resource` };
}

export async function addApplications(
  app: FastifyInstance,
  {
    applications,
    failures,
    refusals,
    ...place
  }: Place & {
    readonly applications: Applications;
    readonly failures: FailureLimit;
    readonly refusals: RefusalLog;
  },
): Promise<void> {
  for (const url of ['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/mcp'])
    addResource(app, url, {
      GET: async (request) => {
        const { issuer, resource } = resourceOf(request, place);
        return {
          resource,
          authorization_servers: [issuer],
          scopes_supported: [APPLICATION_SCOPE],
          bearer_methods_supported: ['header'],
          resource_name: 'caller-stats',
        };
      },
    });
  addResource(app, '/.well-known/oauth-authorization-server', {
    GET: async (request) => describeServer(addressOf(request, place)),
  });
  // A separate context with its own body parsers.
  await app.register(async (own) => {
    own.removeAllContentTypeParsers();
    addJsonParser(own, dashboardBodyBytesMax);
    own.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit: dashboardBodyBytesMax },
      async (_request: FastifyRequest, body: string) => {
        const fields = new URLSearchParams(body);
        return repeatsOne(fields) ? REPEATED : Object.fromEntries(fields);
      },
    );
    own.addHook('onRequest', refuseForeignOrigin(place.publicUrl));
    own.addHook('preParsing', refuseEncoding);
    const refuse = async (
      request: FastifyRequest,
      reply: FastifyReply,
      error: string,
      description: string,
    ) => {
      await failures.consume(getClientAddress(request), reply);
      refusals.refused(request, 400, error);
      return reply.code(400).send({ error, error_description: description });
    };
    addResource(own, '/oauth/register', {
      POST: async (request, reply) => {
        const registration = parseRegistration(fieldsOf(request));
        if (!registration.ok)
          return refuse(request, reply, 'invalid_client_metadata', registration.problems.join(' '));
        const { name, redirectUris } = registration.value;
        return reply.code(201).send({
          client_id: await applications.register(registration.value),
          client_name: name,
          redirect_uris: redirectUris,
          token_endpoint_auth_method: 'none',
          grant_types: ['authorization_code', 'refresh_token'],
          response_types: ['code'],
          scope: APPLICATION_SCOPE,
        });
      },
    });
    addResource(own, '/oauth/token', {
      POST: async (request, reply) => {
        if (request.body === REPEATED)
          return refuse(request, reply, 'invalid_request', 'A parameter is sent more than once.');
        const tokens = await findTokens(applications, fieldsOf(request));
        if (tokens === 'unknown')
          return refuse(request, reply, 'unsupported_grant_type', 'Send a code or a refresh token.');
        if (tokens === undefined)
          return refuse(
            request,
            reply,
            'invalid_grant',
            'The code or token is wrong, of another client_id, was used before, or has expired; connect again.',
          );
        return reply.send({
          access_token: tokens.access,
          token_type: 'Bearer',
          expires_in: applicationAccessSeconds,
          refresh_token: tokens.refresh,
          scope: APPLICATION_SCOPE,
        });
      },
    });
  });
}

function describeServer(issuer: string) {
  return {
    issuer,
    authorization_endpoint: `${issuer}/connect`,
    token_endpoint: `${issuer}/oauth/token`,
    registration_endpoint: `${issuer}/oauth/register`,
    scopes_supported: [APPLICATION_SCOPE],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: ['none'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    service_documentation: `${issuer}/docs/guides/read/reading`,
  };
}

async function findTokens(
  applications: Applications,
  fields: Readonly<Record<string, unknown>>,
): Promise<Tokens | undefined | 'unknown'> {
  const field = (name: string): string => {
    const value = fields[name];
    return typeof value === 'string' ? value : '';
  };
  switch (field('grant_type')) {
    case 'authorization_code':
      return applications.exchange(field('code'), {
        clientId: field('client_id'),
        redirectUri: field('redirect_uri'),
        verifier: field('code_verifier'),
      });
    case 'refresh_token':
      return applications.refresh(field('refresh_token'), field('client_id'));
    default:
      return 'unknown';
  }
}

function fieldsOf({ body }: FastifyRequest): Readonly<Record<string, unknown>> {
  return typeof body === 'object' && body !== null ? { ...body } : {};
}
