/**
 * The secrets of a server. The newest one signs cookies and encrypts second factors. Older ones still verify and decrypt, so
 * that a new secret signs nobody out.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { generateToken } from '../domain/people/invitation.js';
import type { Store } from '../storage/ports/store.js';
import { COOKIE_PREFIX, SECRET_NAME } from './names.js';

export interface SecretSources {
  readonly store: Pick<Store, 'directory'>;
  /** Finds the secrets of the settings, newest first. If there are none, the store has a random one for all its servers. */
  readonly secrets: () => Promise<readonly string[]>;
  readonly randomInt: (max: number) => number;
}

export async function findSecrets({ store, secrets, randomInt }: SecretSources): Promise<Secrets> {
  const configured = await secrets();
  if (configured.length === 0)
    return new Secrets([await store.directory.keepSecret(SECRET_NAME, generateToken(randomInt))]);
  // The database may have had a secret before, which encrypted second factors.
  return new Secrets(configured, await store.directory.findSecret(SECRET_NAME));
}

export class Secrets {
  readonly #all: readonly string[];
  readonly #decrypting: string | undefined;

  /**
   * `all`: newest first, at least one. `decrypting` was stored in the database, so copies of the database have it: it decrypts,
   * but verifies nothing.
   */
  constructor(all: readonly string[], decrypting?: string) {
    if (all.length === 0) throw new Error('there is no secret');
    this.#all = all;
    this.#decrypting = all.includes(decrypting ?? '') ? undefined : decrypting;
  }

  get newest(): string {
    return this.#all[0] ?? '';
  }

  /** Signs a text for a purpose, so that signatures of one are useless for another. */
  sign(purpose: string, text: string): string {
    return signWith(this.newest, purpose, text);
  }

  /** Whether any secret signed the text. */
  verify(purpose: string, text: string, signature: string): boolean {
    return this.#all.some((secret) => isEqual(signWith(secret, purpose, text), signature));
  }

  /** The form in which the library takes secrets. It stores the version with what it encrypts. */
  get versions(): { version: number; value: string }[] {
    const all = this.#decrypting === undefined ? this.#all : [...this.#all, this.#decrypting];
    return all.map((value) => ({ version: versionOf(value), value }));
  }

  /** The library's cookies of a `Cookie` header, signed anew if an older secret signed them. */
  renewCookies(header: string): string {
    if (this.#all.length === 1) return header;
    return header
      .split(';')
      .map((pair) => this.#renew(pair.trim()))
      .join('; ');
  }

  #renew(pair: string): string {
    const at = pair.indexOf('=');
    const name = pair.slice(0, at);
    const signed = decode(pair.slice(at + 1));
    const dot = signed?.lastIndexOf('.') ?? -1;
    if (signed === undefined || dot <= 0 || !name.includes(`${COOKIE_PREFIX}.`)) return pair;
    const [value, signature] = [signed.slice(0, dot), signed.slice(dot + 1)];
    const older = this.#all.slice(1).some((secret) => isEqual(cookieSignature(secret, value), signature));
    if (!older) return pair;
    return `${name}=${encodeURIComponent(`${value}.${cookieSignature(this.newest, value)}`)}`;
  }
}

/** How the library signs cookies. */
function cookieSignature(secret: string, value: string): string {
  return createHmac('sha256', secret).update(value).digest('base64');
}

/** Secrets of this program's own signatures differ from the library's, so that the two are not interchangeable. */
function signWith(secret: string, purpose: string, text: string): string {
  return createHmac('sha256', `${purpose} ${secret}`).update(text).digest('base64url');
}

/** A number that belongs to the secret, whatever its place in the list. */
function versionOf(secret: string): number {
  return createHash('sha256').update(`version of ${secret}`).digest().readUInt32BE() >>> 1;
}

function isEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
