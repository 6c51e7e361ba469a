/** Somebody at a browser: keeps cookies, names its origin, and talks to the dashboard's API of a service. */

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
  }

  /** `GET` unless there is a body, which goes as JSON. */
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
        ...(method === 'GET' ? {} : { origin: 'http://localhost:80', 'sec-fetch-site': 'same-origin' }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    for (const set of answer.cookies) this.#keep(set);
    return answer;
  }

  /** The parsed body of an answer that must have this status. */
  async ask<T = Record<string, unknown>>(request: BrowserRequest, status = 200): Promise<T> {
    const answer = await this.send(request);
    if (answer.status !== status) throw new Error(`${request.path}: ${answer.status} ${answer.text}`);
    return (answer.text === '' ? undefined : JSON.parse(answer.text)) as T;
  }

  async signIn(email: string, password = PASSWORD): Promise<Answer> {
    return this.send({ path: '/api/sign-in', body: { email, password } });
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
    if (attributes.some((attribute) => /^ *max-age=0$/i.test(attribute))) this.#cookies.delete(name);
    else this.#cookies.set(name, pair.slice(at + 1));
  }
}
