/** Loads the sign-in library on first use: one instance with `Secure` cookies, and one without. */

import { CallerStatsError } from '../domain/errors.js';
import type { Clock } from '../domain/time/clock.js';
import { later } from '../shared/later.js';
import type { Store } from '../storage/ports/store.js';
import type { LegacyAlgorithms } from './names.js';
import { PasswordHasher } from './passwords/password-hasher.js';
import { type PasswordList, type PasswordUse, requireGoodPassword } from './passwords/password-rules.js';
import { findSecrets, type SecretSources, type Secrets } from './secrets.js';
import type { Library, LibraryOptions } from './sign-in-library.js';
import { type AccountMetrics, SignInLog } from './sign-in-log.js';
import { withStorages } from './storages.js';

const loadLibrary = later(() => import('./sign-in-library.js'));
const loadCodes = later(() => import('./second-factor/codes.js'));

export interface UsersOptions
  extends Pick<LibraryOptions, 'basePath' | 'singleSignOn' | 'log'>,
    Omit<SecretSources, 'store'> {
  readonly store: SecretSources['store'] & Pick<Store, 'users' | 'throttles' | 'directory'>;
  readonly clock: Clock;
  /** The server's URL for browsers; required only for single sign-on. */
  readonly publicUrl: string | undefined;
  /** Passwords that nobody may choose, besides the common ones. */
  readonly breachedPasswords?: PasswordList | undefined;
  readonly metrics?: AccountMetrics | undefined;
  /** Default: `accept`. */
  readonly legacyAlgorithms?: LegacyAlgorithms | undefined;
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
  #secrets: Promise<Secrets> | undefined;

  /** Records attempts to sign in. */
  readonly log: SignInLog;

  constructor(options: UsersOptions) {
    this.#options = options;
    const { store, clock, metrics } = options;
    this.log = new SignInLog({ store, clock, metrics, secrets: () => this.secrets() });
  }

  get publicUrl(): string | undefined {
    return this.#options.publicUrl;
  }

  /** The server's URL for browsers. */
  get origin(): string {
    return this.publicUrl ?? 'http://127.0.0.1';
  }

  /** Whether a second factor that the provider of single sign-on checked is enough. */
  get trustsProvider(): boolean {
    return this.#options.singleSignOn?.secondFactor === 'trust';
  }

  get clock(): Clock {
    return this.#options.clock;
  }

  get basePath(): string {
    return this.#options.basePath;
  }

  /** The secrets of this server. Throws `unavailable` if the store is. */
  secrets(): Promise<Secrets> {
    this.#secrets ??= findSecrets(this.#options).catch((error: unknown) => {
      // The next request tries again.
      this.#secrets = undefined;
      throw error;
    });
    return this.#secrets;
  }

  /** Throws `invalid` for a new password that is easy to guess. */
  requireGoodPassword(password: string, use: PasswordUse): Promise<void> {
    return requireGoodPassword(password, use, this.#options.breachedPasswords);
  }

  /** Whether cookies are `Secure`: according to the public URL, or else to the request. */
  isSecure({ secure }: Pick<AuthRequest, 'secure'>): boolean {
    return this.#options.publicUrl?.startsWith('https:') ?? secure;
  }

  /** The library's access to the tables of users, without a request. */
  async context() {
    return (await this.for({ secure: false })).$context;
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
    const own = await this.headersOf(authRequest);
    const options = { headers: own, returnHeaders: true } as const;
    const { headers, response } = await withStorages(() => use(api, options)).catch(throwOwn);
    return { response, cookies: headers.getSetCookie() };
  }

  /** The headers of a request for the library, which knows only the newest secret. */
  async headersOf({ headers }: Pick<AuthRequest, 'headers'>): Promise<Headers> {
    const renewed = new Headers(headers);
    const cookie = headers.get('cookie');
    if (cookie !== null) renewed.set('cookie', (await this.secrets()).renewCookies(cookie));
    return renewed;
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
    const { store, clock, basePath, singleSignOn, log, legacyAlgorithms = 'accept' } = this.#options;
    // Imported on demand, because servers without a dashboard do not need it.
    const [{ buildLibrary }, { renewSecondFactors }] = await Promise.all([loadLibrary(), loadCodes()]);
    const library = buildLibrary({
      tables: store.users,
      passwords: this.passwords,
      secrets: await this.secrets(),
      throttles: store.throttles,
      clock,
      signInLog: this.log,
      origin: this.origin,
      basePath,
      secure,
      singleSignOn,
      legacyAlgorithms,
      mayJoin: async (email) => {
        const { directory } = store;
        const by = { name: email, address: null, at: clock.now() };
        // The provider has verified the address, so the invitation's link is not needed. Of several organizations, the person chooses.
        if ((await directory.listOrganizations()).length === 1)
          await directory.acceptInvitationsFor(email, by);
        return directory.isExpected(email, by.at);
      },
      onAccountProved: async (email, address) => {
        const detail =
          'removed with all sessions: single sign-on proved the address of the account first now';
        const by = { name: email, address, at: clock.now() };
        await store.directory.logUserChange(email, { action: 'user.password', detail }, by);
      },
      log,
    });
    await renewSecondFactors(await library.$context);
    return library;
  }
}

/** The library wraps what the store has thrown in an error of its own. */
function throwOwn(error: unknown): never {
  const { cause } = error as { readonly cause?: unknown };
  throw cause instanceof CallerStatsError ? cause : error;
}
