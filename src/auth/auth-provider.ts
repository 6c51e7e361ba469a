/** The sign-in library, made when somebody first needs it: with `Secure` cookies, and without. */
import type { Logger } from 'pino';
import { generateToken } from '../domain/people/invitation.js';
import type { Clock } from '../domain/time/clock.js';
import type { Store } from '../storage/ports/store.js';
import type { SingleSignOn } from './names.js';
import type { Library } from './sign-in-library.js';

export interface UsersOptions {
  readonly store: Pick<Store, 'userTables' | 'acceptInvitationsFor' | 'listMemberships' | 'keepSecret'>;
  readonly clock: Clock;
  /** Where browsers find the server; needed only for single sign-on. */
  readonly publicUrl: string | undefined;
  /** The path that everything is below, with no slash behind it: what the cookies are for. */
  readonly basePath: string;
  /** Signs cookies and seals second factors; where there is none, the store keeps one that all its servers share. */
  readonly secret: string | undefined;
  readonly singleSignOn: SingleSignOn | undefined;
  readonly randomInt: (max: number) => number;
  readonly log: Logger;
}

/** What an answer tells the browser to keep. */
export interface AuthResponse {
  /** Values of `Set-Cookie`. */
  readonly cookies: readonly string[];
}

/** Who asks: the request's cookies, user agent and address, as headers (see `ADDRESS_HEADER`). */
export interface AuthRequest {
  readonly headers: Headers;
  /** Whether the request came by HTTPS. */
  readonly secure: boolean;
}

export class AuthProvider {
  readonly #options: UsersOptions;
  /** By whether cookies are `Secure`. */
  readonly #made = new Map<boolean, Promise<Library>>();
  /** Tokens that set a new password, by e-mail address, for as long as it takes to hand them over. */
  readonly #resets = new Map<string, string>();
  #kept: string | undefined;

  constructor(options: UsersOptions) {
    this.#options = options;
  }

  /** Where browsers find the server. */
  get origin(): string {
    return this.#options.publicUrl ?? 'http://127.0.0.1';
  }

  get basePath(): string {
    return this.#options.basePath;
  }

  /** What this program itself signs: derived, so that neither can stand for the other. */
  async signingSecret(): Promise<string> {
    return `device ${await this.#secret()}`;
  }

  /** The token that the library made last for this address; once. */
  takeReset(email: string): string | undefined {
    const token = this.#resets.get(email);
    this.#resets.delete(email);
    return token;
  }

  /** Whether the cookies of whoever asks are `Secure`: where browsers are known to come by HTTPS, or this one did. */
  isSecure({ secure }: Pick<AuthRequest, 'secure'>): boolean {
    return this.#options.publicUrl?.startsWith('https:') ?? secure;
  }

  /** The library for somebody who asks. `unavailable` as for any use of the store. */
  for(authRequest: Pick<AuthRequest, 'secure'>): Promise<Library> {
    const isSecure = this.isSecure(authRequest);
    let library = this.#made.get(isSecure);
    if (library === undefined) {
      library = this.#build(isSecure);
      this.#made.set(isSecure, library);
      // The store may be away now, and there again when the next one asks.
      library.catch(() => this.#made.delete(isSecure));
    }
    return library;
  }

  async #build(secure: boolean): Promise<Library> {
    const { store, clock, basePath, singleSignOn, log } = this.#options;
    // Loaded when the first one asks: a server that only records and counts does without.
    const { buildLibrary } = await import('./sign-in-library.js');
    const library = buildLibrary({
      tables: store.userTables,
      secret: await this.#secret(),
      origin: this.origin,
      basePath,
      secure,
      singleSignOn,
      mayJoin: async (email) => {
        // The provider has verified the address: it is as good as the invitation's link.
        await store.acceptInvitationsFor(email, { name: email, address: null, at: clock.now() });
        return (await store.listMemberships(email)).length > 0;
      },
      onPasswordReset: (email, token) => this.#resets.set(email, token),
      log,
    });
    await library.$context;
    return library;
  }

  async #secret(): Promise<string> {
    const { store, secret, randomInt } = this.#options;
    this.#kept ??= secret ?? (await store.keepSecret('sessions', generateToken(randomInt)));
    return this.#kept;
  }
}
