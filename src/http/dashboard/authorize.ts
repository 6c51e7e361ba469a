/** Who is signed in, and what they may do in an organization: the first thing that happens to a request of the dashboard. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Session, User, Users } from '../../auth/users.js';
import { CallerStatsError } from '../../domain/errors.js';
import type { Actor } from '../../domain/people/audit.js';
import type { Membership } from '../../domain/people/invitation.js';
import { type Role, roleAllows } from '../../domain/people/member.js';
import type { Clock } from '../../domain/time/clock.js';
import type { Store } from '../../storage/ports/store.js';
import { forbidden, HttpError } from '../errors.js';
import { getClientAddress } from '../request/target.js';
import { getOrganizationId, setCookies, toAuthRequest } from './requests.js';

export interface SignedIn {
  readonly user: User;
  readonly session: Session;
}

export interface SignedInMember extends SignedIn {
  readonly membership: Membership;
}

export interface SessionGuardOptions {
  readonly users: Users;
  readonly store: Pick<Store, 'listMemberships'>;
  readonly clock: Clock;
}

export class SessionGuard {
  readonly #users: Users;
  readonly #store: Pick<Store, 'listMemberships'>;
  readonly #clock: Clock;
  readonly #signedIn = new WeakMap<FastifyRequest, SignedIn>();
  readonly #members = new WeakMap<FastifyRequest, SignedInMember>();

  constructor({ users, store, clock }: SessionGuardOptions) {
    this.#users = users;
    this.#store = store;
    this.#clock = clock;
  }

  /** An `onRequest` hook: `401` for whoever is not signed in. */
  readonly requireUser = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const found = await this.#users.findSession(toAuthRequest(request));
    if (found === undefined)
      throw new CallerStatsError('wrong_credentials', 'You are signed out; sign in again.');
    setCookies(reply, found);
    this.#signedIn.set(request, found);
  };

  /**
   * The same for paths with an `{organizationId}`: `404` where there is no such organization, or the user is no member
   * of it, which look the same; `403` where the role is not enough for the method. `changes` is the role that changes
   * need; any member may read.
   */
  requireMember(changes: Role) {
    return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
      await this.requireUser(request, reply);
      const organizationId = getOrganizationId(request);
      const found = this.getUser(request);
      const memberships = await this.#store.listMemberships(found.user.email);
      const membership = memberships.find((one) => one.organizationId === organizationId);
      if (membership === undefined) throw new HttpError(404, 'There is no such organization.');
      const needed = request.method === 'GET' || request.method === 'HEAD' ? 'viewer' : changes;
      if (!roleAllows(membership.role, needed)) {
        throw forbidden(`This needs the role ${needed}; you are ${membership.role}. Ask an owner.`);
      }
      this.#members.set(request, { ...found, membership });
    };
  }

  /** Who `requireUser` let in. */
  getUser(request: FastifyRequest): SignedIn {
    const found = this.#signedIn.get(request);
    if (found === undefined) throw new Error('the route does not require a user');
    return found;
  }

  /** Who `requireMember` let in. */
  getMember(request: FastifyRequest): SignedInMember {
    const found = this.#members.get(request);
    if (found === undefined) throw new Error('the route does not require a member');
    return found;
  }

  /** The signed-in user as the audit log names who makes a change. */
  getActor(request: FastifyRequest): Actor {
    return this.getActorNamed(request, this.getUser(request).user.email);
  }

  getActorNamed(request: FastifyRequest, email: string): Actor {
    return { name: email, address: getClientAddress(request), at: this.#clock.now() };
  }
}
