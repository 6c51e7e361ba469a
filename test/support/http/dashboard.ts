/** A browser that uses the dashboard's API of a service: it keeps cookies and sends its origin. */
import { randomInt } from 'node:crypto';
import { newInvitation } from '../../../src/domain/people/invitation.js';
import type { Role } from '../../../src/domain/people/member.js';
import { DEFAULT_ORGANIZATION_ID } from '../../../src/domain/projects/organization.js';
import type { Service } from './http.js';
import type { Answer } from './http-checks.js';

export const PASSWORD = 'a long enough passphrase';

export interface BrowserRequest {
  readonly method?: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export class Browser {
  readonly #service: Service;
  readonly #cookies = new Map<string, string>();
  readonly from: string;

  constructor(service: Service, from = '192.0.2.1') {
    this.#service = service;
    this.from = from;
    service.hide(PASSWORD);
  }

  /** Sends `GET`, or `POST` if there is a body. A body that is not text is sent as JSON. */
  async send({
    path,
    body,
    method = body === undefined ? 'GET' : 'POST',
    headers,
  }: BrowserRequest): Promise<Answer> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await this.#service.send({
      method,
      path,
      key: null,
      from: this.from,
      headers: {
        ...(cookie === '' ? {} : { cookie }),
        ...(method === 'GET' ? {} : { ...OWN_ORIGIN, origin: this.#service.pageOrigin }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    for (const set of answer.cookies) this.#keep(set);
    return answer;
  }

  /** Returns the parsed body; throws if the response has another status. */
  async ask<T = Record<string, unknown>>(request: BrowserRequest, status = 200): Promise<T> {
    const answer = await this.send(request);
    if (answer.status !== status) throw new Error(`${request.path}: ${answer.status} ${answer.text}`);
    return (answer.text === '' ? undefined : JSON.parse(answer.text)) as T;
  }

  async signIn(email: string, password = PASSWORD): Promise<Answer> {
    return this.send({ path: '/api/sign-in', body: { email, password } });
  }

  /** The cookies by name. */
  get cookies(): ReadonlyMap<string, string> {
    return this.#cookies;
  }

  /** A browser with the same cookies, which receives its own from now on. */
  copy(from = this.from): Browser {
    const copy = new Browser(this.#service, from);
    for (const [name, value] of this.#cookies) copy.setCookie(name, value);
    return copy;
  }

  cookie(name: string): string | undefined {
    return this.#cookies.get(name);
  }

  setCookie(name: string, value: string): void {
    this.#cookies.set(name, value);
  }

  #keep(set: string): void {
    const [pair = '', ...attributes] = set.split(';');
    const at = pair.indexOf('=');
    const name = pair.slice(0, at);
    const value = pair.slice(at + 1);
    if (attributes.some((attribute) => /^ *max-age=0$/i.test(attribute))) this.#cookies.delete(name);
    else this.#cookies.set(name, value);
    if (value !== '') this.#service.hide(value);
  }
}

/** The headers of a request that a page of the server sends. */
export const OWN_ORIGIN = { origin: 'http://localhost:80', 'sec-fetch-site': 'same-origin' } as const;

/** Creates an invitation without the API and returns the token of its link. Readers read the project `docs`. */
export async function invite(
  { store, clock, hide }: Service,
  email: string,
  role: Role,
  organizationId: string = DEFAULT_ORGANIZATION_ID,
): Promise<string> {
  const projects = role === 'reader' ? ['docs'] : [];
  const by = { name: 'a test', address: null, at: clock.nowMs };
  const { invitation, token } = newInvitation({ organizationId, email, role, projects }, { by, randomInt });
  await store.directory.createInvitation(invitation, by);
  hide(token);
  return token;
}

/** Creates an account for a new member and returns a browser that is signed in. */
export async function signedIn(
  service: Service,
  email: string,
  role: Role,
  { organization, from }: { readonly organization?: string; readonly from?: string } = {},
): Promise<Browser> {
  const token = await invite(service, email, role, organization);
  const browser = new Browser(service, from);
  const body = { token, name: email, password: PASSWORD };
  await browser.ask({ path: '/api/invitations/accept', body }, 204);
  return browser;
}

/** The organization's audit log, newest entry first. */
export function auditOf({ store }: Service, organizationId: string = DEFAULT_ORGANIZATION_ID) {
  return store.directory.readAudit(organizationId, { limit: 1000 });
}
