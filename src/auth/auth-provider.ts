/** Loads the sign-in library on first use: one instance with `Secure` cookies, and one without. */
import { generateToken } from '../domain/people/invitation.js';
import type { Clock } from '../domain/time/clock.js';
import type { Store } from '../storage/ports/store.js';
import { PasswordHasher } from './passwords/password-hasher.js';
import type { Library, LibraryOptions } from './sign-in-library.js';

export interface UsersOptions extends Pick<LibraryOptions, 'basePath' | 'singleSignOn' | 'log'> {
  readonly store: Pick<Store, 'userTables' | 'acceptInvitationsFor' | 'listMemberships' | 'keepSecret'>;
  readonly clock: Clock;
  /** The server's URL for browsers; required only for single sign-on. */
  readonly publicUrl: string | undefined;
  /** Signs cookies and encrypts second factors. By default the store has a random one for all its servers. */
  readonly secret: string | undefined;
  readonly randomInt: (max: number) => number;
}

export interface AuthResponse {
  /** Values of `Set-Cookie`. */
  readonly cookies: readonly string[];
}

export interface AuthRequest {
  /** The cookies, user agent and address of the client (see `ADDRESS_HEADER`). */
  readonly headers: Headers;
  /** Whether the request used HTTPS. */
  readonly secure: boolean;
}

export class AuthProvider {
  /** Hashes passwords, within the limits of one server. */
  readonly passwords = new PasswordHasher();
  readonly #options: UsersOptions;
  /** By whether cookies are `Secure`. */
  readonly #libraries = new Map<boolean, Promise<Library>>();
  /** New tokens for password resets, by e-mail address, until `takeResetToken` returns them. */
  readonly #resetTokens = new Map<string, string>();
  #cachedSecret: string | undefined;

  constructor(options: UsersOptions) {
    this.#options = options;
  }

  /** The server's URL for browsers. */
  get origin(): string {
    return this.#options.publicUrl ?? 'http://127.0.0.1';
  }

  get basePath(): string {
    return this.#options.basePath;
  }

  /** Signs this program's own cookies. It differs from the library's secret, so that signatures are not interchangeable. */
  async signingSecret(): Promise<string> {
    return `device ${await this.#secret()}`;
  }

  /** Returns and forgets the newest token for this address. */
  takeResetToken(email: string): string | undefined {
    const token = this.#resetTokens.get(email);
    this.#resetTokens.delete(email);
    return token;
  }

  /** Whether cookies are `Secure`: according to the public URL, or else to the request. */
  isSecure({ secure }: Pick<AuthRequest, 'secure'>): boolean {
    return this.#options.publicUrl?.startsWith('https:') ?? secure;
  }

  /** Calls the library with the headers of the request. */
  async call<T>(
    authRequest: AuthRequest,
    use: (
      api: Library['api'],
      options: { readonly headers: Headers; readonly returnHeaders: true },
    ) => Promise<{ readonly headers: Headers; readonly response: T }>,
  ): Promise<AuthResponse & { readonly response: T }> {
    const { api } = await this.for(authRequest);
    const { headers, response } = await use(api, { headers: authRequest.headers, returnHeaders: true });
    return { response, cookies: headers.getSetCookie() };
  }

  /** The library for a request. Throws `unavailable` if the store is. */
  for(authRequest: Pick<AuthRequest, 'secure'>): Promise<Library> {
    const isSecure = this.isSecure(authRequest);
    let library = this.#libraries.get(isSecure);
    if (library === undefined) {
      library = this.#build(isSecure);
      this.#libraries.set(isSecure, library);
      // After a failure of the store, the next request tries again.
      library.catch(() => this.#libraries.delete(isSecure));
    }
    return library;
  }

  async #build(secure: boolean): Promise<Library> {
    const { store, clock, basePath, singleSignOn, log } = this.#options;
    // Imported on demand, because servers without a dashboard do not need it.
    const { buildLibrary } = await import('./sign-in-library.js');
    const library = buildLibrary({
      tables: store.userTables,
      passwords: this.passwords,
      secret: await this.#secret(),
      origin: this.origin,
      basePath,
      secure,
      singleSignOn,
      mayJoin: async (email) => {
        // The provider has verified the address, so the invitation's link is not needed.
        await store.acceptInvitationsFor(email, { name: email, address: null, at: clock.now() });
        return (await store.listMemberships(email)).length > 0;
      },
      onPasswordReset: (email, token) => this.#resetTokens.set(email, token),
      log,
    });
    await library.$context;
    return library;
  }

  async #secret(): Promise<string> {
    const { store, secret, randomInt } = this.#options;
    this.#cachedSecret ??= secret ?? (await store.keepSecret('sessions', generateToken(randomInt)));
    return this.#cachedSecret;
  }
}
