/**
 * Authorizes requests with the token of a share link. Nothing else that they send counts: no cookie, no key. The token is
 * looked up by its hash, so the time of an answer says nothing about other tokens.
 *
 * There are no cookies for passwords, because browsers block them in pages that are embedded elsewhere. Instead, a page that
 * sends the right password gets a ticket, which it sends as `Authorization: Bearer` while it is open. All nodes share the
 * secret that signs it. It becomes invalid with the link, and a link with another password has another signature.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AuthProvider } from '../../auth/auth-provider.js';
import { CallerStatsError } from '../../domain/errors.js';
import { sharedNetworksOf } from '../../domain/keys/networks.js';
import { shareTicketSeconds } from '../../domain/limits.js';
import { hashToken } from '../../domain/people/invitation.js';
import type { Project } from '../../domain/projects/project.js';
import {
  isServed,
  isShareToken,
  type ShareLink,
  type ShareLinkRule,
} from '../../domain/projects/share-link.js';
import type { Clock } from '../../domain/time/clock.js';
import { secondMs } from '../../domain/time/duration.js';
import type { Store } from '../../storage/ports/store.js';
import type { FailureLimit, RateLimit } from '../admission/rate-limits.js';
import { getClientAddress, getParameter } from '../request/target.js';
import { HttpError } from '../server/errors.js';
import type { LoginThrottle } from './login-throttle.js';

/** Of the signatures of this file. */
const PURPOSE = 'share ticket';

interface SharedLinksOptions {
  readonly store: Pick<Store, 'directory'>;
  readonly clock: Clock;
  readonly shareLinks: ShareLinkRule;
  readonly authProvider: AuthProvider;
  readonly loginThrottle: LoginThrottle;
  /** Limits each address with one link. The limit of the organization is that of its keys: no stranger can use it up. */
  readonly requests: RateLimit;
  /** Limits addresses that send unknown tokens. */
  readonly failures: FailureLimit;
}

export interface Shared {
  readonly link: ShareLink;
  readonly project: Project;
}

/** The error for every link that does not work, so that it does not tell why. */
function noSuchLink(): CallerStatsError {
  return new CallerStatsError(
    'not_found',
    'This link does not work: it has expired, was revoked, or is incomplete.',
  );
}

export class SharedLinks {
  readonly #options: SharedLinksOptions;

  constructor(options: SharedLinksOptions) {
    this.#options = options;
  }

  /** The link of the request's path and its project, whether or not it has a password. 404 if it does not work. */
  async find(request: FastifyRequest, reply: FastifyReply): Promise<Shared> {
    const { store, clock, shareLinks, requests, failures } = this.#options;
    const token = getParameter(request, 'token');
    const found = isShareToken(token)
      ? await store.directory.findShareLink(hashToken(token), clock.now())
      : undefined;
    const hasPassword = (found?.passwordHash ?? null) !== null;
    const link = isServed(shareLinks, { hasPassword }) ? found : undefined;
    const project = link && (await store.directory.findProject(link.organizationId, link.projectId));
    if (link === undefined || project === undefined) {
      await failures.consume(getClientAddress(request), reply);
      throw noSuchLink();
    }
    const { narrow } = sharedNetworksOf(getClientAddress(request));
    await requests.consume(`${link.id} ${narrow}`, reply, { quiet: true });
    return { link, project };
  }

  /** The same. 401 if the link has a password and the request has no valid ticket. */
  async authorize(request: FastifyRequest, reply: FastifyReply): Promise<Shared> {
    const shared = await this.find(request, reply);
    const { authorization = '' } = request.headers;
    if (shared.link.passwordHash !== null && !(await this.#isTicket(shared.link, authorization))) {
      throw new HttpError(401, 'This link needs its password.', { 'www-authenticate': 'Bearer' });
    }
    return shared;
  }

  /** Checks the password of a link, within limits, and returns a ticket. 403 if it is wrong. */
  async unlock(request: FastifyRequest, reply: FastifyReply, password: string): Promise<string> {
    const { link } = await this.find(request, reply);
    const { authProvider, loginThrottle, clock } = this.#options;
    const { id, passwordHash } = link;
    if (passwordHash === null) throw new CallerStatsError('invalid', 'This link has no password.');
    const check = async (): Promise<void> => {
      if (!(await authProvider.passwords.verify({ password, hash: passwordHash }))) throw wrongPassword();
    };
    await loginThrottle
      .attempt(request, { email: undefined, shareLinkId: id }, check)
      .catch((error: unknown) => {
        const isWrong = error instanceof CallerStatsError && error.code === 'wrong_credentials';
        // 401 would ask for a ticket.
        throw isWrong ? new HttpError(403, error.message) : error;
      });
    const expiresAt = clock.now() + shareTicketSeconds * secondMs;
    const secrets = await authProvider.secrets();
    return `${expiresAt}.${secrets.sign(PURPOSE, ticketText(link, expiresAt))}`;
  }

  async #isTicket(link: ShareLink, authorization: string): Promise<boolean> {
    const [, expires = '', signature = ''] = /^bearer +(\d{1,15})\.([\w-]+) *$/i.exec(authorization) ?? [];
    if (!(Number(expires) > this.#options.clock.now())) return false;
    const secrets = await this.#options.authProvider.secrets();
    return secrets.verify(PURPOSE, ticketText(link, Number(expires)), signature);
  }
}

function wrongPassword(): CallerStatsError {
  return new CallerStatsError('wrong_credentials', 'This is not the password of the link.');
}

function ticketText({ id, passwordHash }: ShareLink, expiresAt: number): string {
  return `${id} ${passwordHash} ${expiresAt}`;
}
