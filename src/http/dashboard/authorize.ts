/** Authorizes requests of the dashboard: the session of the user, and the user's role in the organization. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Session, User, Users } from '../../auth/users.js';
import { CallerStatsError } from '../../domain/errors.js';
import type { Actor } from '../../domain/people/audit.js';
import type { Membership } from '../../domain/people/invitation.js';
import { type Role, roleAllows } from '../../domain/people/member.js';
import type { Clock } from '../../domain/time/clock.js';
import type { Store } from '../../storage/ports/store.js';
import { forbidden } from '../errors.js';
import { getClientAddress } from '../request/target.js';
import { getOrganizationId, setCookies, toAuthRequest } from './requests.js';

export interface SignedIn {
  readonly user: User;
  readonly session: Session;
}

export interface SignedInMember extends SignedIn {
  readonly membership: Membership;
}

export class SessionGuard {
  readonly #users: Users;
  readonly #store: Pick<Store, 'listMemberships'>;
  readonly #clock: Clock;
  readonly #signedIn = new WeakMap<FastifyRequest, SignedIn>();
  readonly #members = new WeakMap<FastifyRequest, SignedInMember>();

  constructor(users: Users, store: Pick<Store, 'listMemberships'>, clock: Clock) {
    this.#users = users;
    this.#store = store;
    this.#clock = clock;
  }

  /** An `onRequest` hook. Throws 401 for requests without a session. */
  readonly requireUser = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const found = await this.#users.findSession(toAuthRequest(request));
    if (found === undefined)
      throw new CallerStatsError('wrong_credentials', 'You are signed out; sign in again.');
    setCookies(reply, found);
    this.#signedIn.set(request, found);
  };

  /**
   * An `onRequest` hook for paths with an `{organizationId}`. Also throws 404 for an unknown organization or one that the
   * user is not a member of, and 403 if the role does not allow the method. Every member may read; other methods need the
   * role `changes`.
   */
  requireMember(changes: Role) {
    return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
      await this.requireUser(request, reply);
      const organizationId = getOrganizationId(request);
      const found = this.getUser(request);
      const memberships = await this.#store.listMemberships(found.user.email);
      const membership = memberships.find((one) => one.organizationId === organizationId);
      if (membership === undefined) throw new CallerStatsError('not_found', 'There is no such organization.');
      const needed = request.method === 'GET' || request.method === 'HEAD' ? 'viewer' : changes;
      if (!roleAllows(membership.role, needed)) {
        throw forbidden(`This needs the role ${needed}; you are ${membership.role}. Ask an owner.`);
      }
      this.#members.set(request, { ...found, membership });
    };
  }

  /** The user that `requireUser` found. */
  getUser(request: FastifyRequest): SignedIn {
    const found = this.#signedIn.get(request);
    if (found === undefined) throw new Error('the route does not require a user');
    return found;
  }

  /** The member that `requireMember` found. */
  getMember(request: FastifyRequest): SignedInMember {
    const found = this.#members.get(request);
    if (found === undefined) throw new Error('the route does not require a member');
    return found;
  }

  /** The signed-in user, for the audit log. */
  getActor(request: FastifyRequest): Actor {
    return this.getActorNamed(request, this.getUser(request).user.email);
  }

  getActorNamed(request: FastifyRequest, email: string): Actor {
    return { name: email, address: getClientAddress(request), at: this.#clock.now() };
  }
}
