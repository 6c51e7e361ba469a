/** Users that sign up and sign in with the dashboard's API, so that tests start with a signed-in user. */
import { type APIRequestContext, request } from 'playwright-core';
import { PASSWORD } from '../http/dashboard.js';
import type { DashboardServer } from './dashboard-server.js';

export interface Person {
  readonly name: string;
  readonly email: string;
  readonly password: string;
}

export type Role = 'owner' | 'editor' | 'viewer';

/** The cookies of a signed-in user, for the options of a visit. */
export type SignedIn = Awaited<ReturnType<APIRequestContext['storageState']>>;

export function person(name: string): Person {
  return { name, email: `${name.toLowerCase()}@example.com`, password: PASSWORD };
}

/** The first user of servers. */
export const ada = person('Ada');

/** The session of a user, who sends requests to the API without a page. */
export class Session {
  readonly #server: Pick<DashboardServer, 'url'>;
  /** The cookies of the session. */
  readonly signedIn: SignedIn;

  private constructor(server: Pick<DashboardServer, 'url'>, signedIn: SignedIn) {
    this.#server = server;
    this.signedIn = signedIn;
  }

  /** Creates the first user, an owner. */
  static async setUp(server: DashboardServer, { name, email, password }: Person = ada): Promise<Session> {
    const token = new URL(server.setUpUrl).hash.slice(1);
    return Session.#begin(server, '/api/set-up', { token, name, email, password });
  }

  /** Signs in with a new session. */
  static async signIn(server: Pick<DashboardServer, 'url'>, { email, password }: Person): Promise<Session> {
    return Session.#begin(server, '/api/sign-in', { email, password });
  }

  static async #begin(server: Pick<DashboardServer, 'url'>, path: string, data: object): Promise<Session> {
    const stranger = new Session(server, { cookies: [], origins: [] });
    const { signedIn } = await stranger.#send('POST', path, data);
    return new Session(server, signedIn);
  }

  /** Invites a person, who accepts. */
  async bring(someone: Person, role: Role): Promise<Session> {
    const { token } = await this.ask<{ token: string }>('POST', `${await this.organization()}/invitations`, {
      email: someone.email,
      role,
    });
    const { name, password } = someone;
    return Session.#begin(this.#server, '/api/invitations/accept', { token, name, password });
  }

  /** The path of the only organization. */
  async organization(): Promise<string> {
    const { organizations } = await this.ask<{ organizations: { id: string }[] }>('GET', '/api/session');
    return `/api/organizations/${organizations[0]?.id}`;
  }

  /** The JSON of a response, which must be successful. */
  async ask<T = unknown>(method: string, path: string, data?: object): Promise<T> {
    const { text } = await this.#send(method, path, data);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  }

  /** The status of any response. */
  async status(method: string, path: string, data?: object): Promise<number> {
    return (await this.#try(method, path, data)).status;
  }

  async #send(method: string, path: string, data?: object) {
    const answer = await this.#try(method, path, data);
    if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer;
  }

  async #try(method: string, path: string, data?: object) {
    const { url } = this.#server;
    const context = await request.newContext({
      baseURL: url,
      extraHTTPHeaders: { origin: url },
      storageState: this.signedIn,
    });
    try {
      const response = await context.fetch(path, { method, ...(data === undefined ? {} : { data }) });
      return {
        status: response.status(),
        text: await response.text(),
        signedIn: await context.storageState(),
      };
    } finally {
      await context.dispose();
    }
  }
}
