/** Authorizes requests of the dashboard: the session of the user, and the user's role in the organization. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AuthRequest } from '../../auth/auth-provider.js';
import type { Session, User, Users } from '../../auth/users.js';
import { CallerStatsError } from '../../domain/errors.js';
import type { Actor } from '../../domain/people/audit.js';
import { mayRead, type Rights, type Role, roleAllows } from '../../domain/people/member.js';
import type { Clock } from '../../domain/time/clock.js';
import type { Store } from '../../storage/ports/store.js';
import { personOf, type RateLimit } from '../admission/rate-limits.js';
import { getClientAddress, getParameter, getProjectId } from '../request/target.js';
import { HttpError, noSuchProject } from '../server/errors.js';
import { addResource, type Resource } from '../server/resource.js';
import { noContent, setCookies, toAuthRequest } from './requests.js';

/** A request with a session. */
export interface SignedIn {
  readonly user: User;
  readonly session: Session;
  /** The request as the sign-in library reads it. */
  readonly auth: AuthRequest;
  /** The user, for the audit log. */
  readonly by: Actor;
}

/** The handlers of a path. They return the JSON of the response, or nothing for `204`. */
type Handlers<Found> = {
  readonly [Method in 'GET' | 'POST' | 'PATCH' | 'DELETE']?: (
    found: Found,
    request: FastifyRequest,
    reply: FastifyReply,
  ) => Promise<object> | Promise<void>;
};

/** The role for `GET`, `viewer` unless given, and the one for all other methods. */
type Needs = Role | readonly [reads: Role, changes: Role];

export class SessionGuard {
  readonly #users: Users;
  readonly #store: Pick<Store, 'directory'>;
  readonly #clock: Clock;
  readonly #requests: RateLimit;
  readonly #found = new WeakMap<FastifyRequest, SignedIn>();
  readonly #rights = new WeakMap<FastifyRequest, Rights>();

  /** `requests`: limits those of each person. */
  constructor(
    users: Users,
    { store, clock, requests }: { store: Pick<Store, 'directory'>; clock: Clock; requests: RateLimit },
  ) {
    this.#users = users;
    this.#store = store;
    this.#clock = clock;
    this.#requests = requests;
  }

  /** Adds a path for signed-in users. Others get `401`. */
  addUserResource(app: FastifyInstance, url: string, handlers: Handlers<SignedIn>): void {
    addResource(app, url, {
      onRequest: (request, reply) => this.#requireUser(request, reply),
      ...toOperations(handlers, (request) => this.#get(request)),
    });
  }

  /** Adds a path below an organization; see `requireMember`. */
  addMemberResource(
    app: FastifyInstance,
    path: string,
    needs: Needs,
    handlers: Handlers<SignedIn & { readonly organizationId: string; readonly rights: Rights }>,
  ): void {
    addResource(app, `/api/organizations/:organizationId${path}`, {
      onRequest: this.requireMember(needs),
      ...toOperations(handlers, (request) => ({
        ...this.#get(request),
        organizationId: getParameter(request, 'organizationId'),
        rights: this.#getRights(request),
      })),
    });
  }

  /**
   * Creates an `onRequest` hook for paths with an `{organizationId}`. It throws 401 without a session, 404 for an unknown
   * organization or one that the user is not a member of, and 403 if the organization requires a second factor that the user
   * does not have, or the role does not allow the method. For a reader, the projects of others do not exist.
   */
  requireMember(needs: Needs) {
    const [reads, changes] = typeof needs === 'string' ? (['viewer', needs] as const) : needs;
    return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
      await this.#requireUser(request, reply);
      const organizationId = getParameter(request, 'organizationId');
      const { user, session } = this.#get(request);
      const memberships = await this.#store.directory.listMemberships(user.email);
      const membership = memberships.find((one) => one.organizationId === organizationId);
      if (membership === undefined) throw new CallerStatsError('not_found', 'There is no such organization.');
      if (membership.secondFactor === 'required' && !(await this.#users.hasSecondFactor(user, session)))
        throw secondFactorRequired(membership.organizationName);
      this.#rights.set(request, membership);
      request.isReader = membership.role === 'reader';
      const needed = request.method === 'GET' || request.method === 'HEAD' ? reads : changes;
      if (!roleAllows(membership.role, needed)) {
        throw new HttpError(403, `This needs the role ${needed}; you are ${membership.role}. Ask an owner.`);
      }
      const projectId = getProjectId(request);
      if (projectId !== '' && !mayRead(membership, projectId)) throw noSuchProject();
    };
  }

  /** Counts a request of the person, and what their applications read with it. Throws 429 above the limit. */
  async count({ id }: Pick<User, 'id'>, reply: FastifyReply): Promise<void> {
    await this.#requests.consume(personOf(id), reply, { quiet: true });
  }

  /** The author of a change, for the audit log. */
  getActor(request: FastifyRequest, email: string): Actor {
    return { name: email, address: getClientAddress(request), at: this.#clock.now() };
  }

  async #requireUser(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const auth = toAuthRequest(request);
    const found = await this.#users.findSession(auth);
    if (found === undefined)
      throw new CallerStatsError('wrong_credentials', 'You are signed out; sign in again.');
    setCookies(reply, found);
    const { user, session } = found;
    request.userId = user.id;
    await this.count(user, reply);
    this.#found.set(request, { user, session, auth, by: this.getActor(request, user.email) });
  }

  #getRights(request: FastifyRequest): Rights {
    const rights = this.#rights.get(request);
    if (rights === undefined) throw new Error('the route does not require a member');
    return rights;
  }

  #get(request: FastifyRequest): SignedIn {
    const found = this.#found.get(request);
    if (found === undefined) throw new Error('the route does not require a user');
    return found;
  }
}

function secondFactorRequired(organization: string): HttpError {
  const message = `${organization} requires a second factor. Set one up on your account page first.`;
  // A header, because all errors have one form of body. The dashboard leads to setting it up.
  return new HttpError(403, message, { 'x-error-code': 'second_factor_required' });
}

function toOperations<Found>(handlers: Handlers<Found>, find: (request: FastifyRequest) => Found): Resource {
  const operations = Object.entries(handlers).map(([method, handler]) => [
    method,
    async (request: FastifyRequest, reply: FastifyReply) =>
      (await handler(find(request), request, reply)) ?? noContent(reply),
  ]);
  return Object.fromEntries(operations);
}
