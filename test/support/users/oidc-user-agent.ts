/** Signs in at a provider as a browser would, with plain requests. */

/** More redirects would be an endless loop. */
const redirectsMax = 10;

export class OidcUserAgent {
  readonly #cookies = new Map<string, string>();

  /** Signs in with an e-mail address, or cancels if it is null. Returns the client's URL, with a code or an error. */
  async signIn(authorizationUrl: string | URL, email: string | null): Promise<URL> {
    const { origin } = new URL(authorizationUrl);
    let { url, location } = await this.#request(new URL(authorizationUrl));
    for (let redirects = 0; redirects < redirectsMax; redirects++) {
      if (location !== undefined && location.origin !== origin) return location;
      const body = new URLSearchParams(email === null ? { cancel: 'yes' } : { email });
      ({ url, location } = await (location === undefined
        ? this.#request(url, body)
        : this.#request(location)));
    }
    throw new Error(`The provider redirects endlessly, at last to ${url}`);
  }

  async #request(url: URL, body?: URLSearchParams): Promise<{ url: URL; location: URL | undefined }> {
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: [...this.#cookies].map((pair) => pair.join('=')).join('; ') },
      ...(body === undefined ? {} : { method: 'POST', body }),
    });
    const answer = await response.text();
    if (response.status >= 400)
      throw new Error(`The provider answered ${response.status} to ${url}: ${answer}`);
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      this.#cookies.set(name, value);
    }
    const location = response.headers.get('location');
    return { url, location: location === null ? undefined : new URL(location, url) };
  }
}
