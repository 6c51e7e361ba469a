/**
 * Applications that people connect (OAuth 2.1 with PKCE), to read counts in their name. The library's own provider needs seven
 * tables and stores what strangers register. Here, a connection is a verification value of the user, as a trusted device is, so a
 * new password ends it, too.
 *
 * Codes and tokens are signed, so guesses never reach the store. The names of the rows are not secret.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import {
  applicationAccessSeconds,
  applicationCodeSeconds,
  applicationConnectionSeconds,
  applicationGraceSeconds,
  applicationLifeSeconds,
} from '../../domain/limits.js';
import { secondMs } from '../../domain/time/duration.js';
import type { Directory } from '../../storage/ports/directory.js';
import type { AuthProvider } from '../auth-provider.js';
import { APPLICATION_PREFIX, APPLICATION_TOKEN_PREFIX } from '../names.js';
import { keepNewest } from '../newest.js';
import { findClient, type Registration, toClientId } from './registration.js';

/** A request of an application for a code, as the browser brings it. */
export interface CodeRequest {
  readonly clientId: string;
  readonly redirectUri: string;
  /** The hash of a secret of the application (RFC 7636, S256). */
  readonly challenge: string;
}

export interface Tokens {
  readonly access: string;
  readonly refresh: string;
}

export interface Application {
  readonly id: string;
  readonly name: string;
  readonly address: string | null;
  /** Milliseconds since 1970: when it was connected, or last got a token. */
  readonly usedAt: number;
}

/** Whom a token belongs to. */
interface Holder {
  readonly id: string;
  readonly email: string;
  /** Whether the organizations that require a second factor are open to them. */
  readonly hasSecondFactor: boolean;
}

type Kind = 'code' | 'access' | `refresh ${string}`;

/** What codes and tokens consist of: which connection, which row of it, whether the provider checked a second factor, and until when. */
interface Parts {
  readonly grant: string;
  readonly generation: string;
  readonly factor: string;
  readonly until: number;
  /** Of a code: what must come with it. Of tokens: the end of the connection, in milliseconds since 1970. */
  readonly bound: string;
}

interface Row {
  readonly identifier: string;
  readonly value: string;
  readonly ipAddress?: string | null;
  readonly userAgent?: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

const model = 'verification';

export class Applications {
  readonly #authProvider: AuthProvider;
  readonly #directory: Pick<Directory, 'findUsers'>;

  constructor(authProvider: AuthProvider, directory: Pick<Directory, 'findUsers'>) {
    this.#authProvider = authProvider;
    this.#directory = directory;
  }

  async register(registration: Registration): Promise<string> {
    return toClientId(await this.#authProvider.secrets(), registration);
  }

  /** Undefined for an application that nobody registered with this address to return to. */
  async find({ clientId, redirectUri }: Pick<CodeRequest, 'clientId' | 'redirectUri'>) {
    return findClient(await this.#authProvider.secrets(), clientId, redirectUri);
  }

  /** A code for the application, which the user allows to read. */
  async allow(
    request: CodeRequest,
    {
      userId,
      name,
      address,
      providerFactor,
    }: {
      readonly userId: string;
      readonly name: string;
      readonly address: string | null;
      readonly providerFactor: boolean;
    },
  ): Promise<string> {
    const [grant, generation] = [randomBytes(16).toString('hex'), 'code'];
    const factor = providerFactor ? 'provider' : 'own';
    const added = await this.#create(
      { identifier: rowOf(grant, generation), value: userId, userAgent: name, ipAddress: address },
      applicationCodeSeconds,
    );
    await keepNewest((await this.#authProvider.context()).adapter, model, rowsOf('', userId), added);
    return this.#sign('code', {
      grant,
      generation,
      factor,
      bound: bind(request),
      until: this.#after(applicationCodeSeconds),
    });
  }

  /** The tokens for a code; undefined if it is wrong, was used, or has expired. One that was used ends the connection. */
  async exchange(
    code: string,
    { verifier, ...given }: Omit<CodeRequest, 'challenge'> & { readonly verifier: string },
  ): Promise<Tokens | undefined> {
    const parts = await this.#read('code', code);
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    if (parts === undefined || !isEqual(bind({ ...given, challenge }), parts.bound)) return undefined;
    const row = await this.#findRow(parts);
    if (row === undefined) return this.#endGrant(parts.grant);
    const bound = String(this.#after(applicationConnectionSeconds));
    const tokens = await this.#continue(row, { ...parts, bound }, given.clientId);
    // Of two requests with one code, only one removes it. After the next row is there: what ends all connections meets one of the two.
    if ((await this.#remove([{ field: 'identifier', value: row.identifier }])) === 0)
      return this.#endGrant(parts.grant);
    return tokens;
  }

  /**
   * New tokens for a refresh token of this application, which then works for `applicationGraceSeconds` more. Used later, it ends the
   * connection.
   */
  async refresh(token: string, clientId: string): Promise<Tokens | undefined> {
    const parts = await this.#read(refreshOf(clientId), token);
    if (parts === undefined) return undefined;
    const row = await this.#findRow(parts);
    if (row === undefined) return this.#endGrant(parts.grant);
    const tokens = await this.#continue(row, parts, clientId);
    // Ended meanwhile, before the next row was there.
    const { adapter } = await this.#authProvider.context();
    const where = [{ field: 'identifier', value: row.identifier }];
    return (await adapter.findOne({ model, where })) === null ? this.#endGrant(parts.grant) : tokens;
  }

  /** Whose token this is; undefined if it is wrong or has expired, or the connection was ended. */
  async holderOf(token: string): Promise<Holder | undefined> {
    const parts = await this.#read('access', token);
    const row = parts && (await this.#findRow(parts));
    if (parts === undefined || row === undefined) return undefined;
    const { internalAdapter } = await this.#authProvider.context();
    const user = await internalAdapter.findUserById(row.value);
    if (user === null) return undefined;
    const { id, email } = user;
    const isProved = parts.factor === 'provider' && this.#authProvider.trustsProvider;
    const hasSecondFactor =
      isProved || (await this.#directory.findUsers([email])).get(email)?.secondFactor === true;
    return { id, email, hasSecondFactor };
  }

  /** The applications that the user has connected, latest first. */
  async list(userId: string): Promise<Application[]> {
    const { adapter } = await this.#authProvider.context();
    const rows = await adapter.findMany<Row>({ model, where: rowsOf('', userId) });
    const latest = rows
      .filter(
        ({ identifier, expiresAt }) => !identifier.endsWith('.code') && expiresAt.getTime() > this.#after(0),
      )
      .sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime());
    const grants = latest.map(({ identifier }) => grantOf(identifier));
    return latest
      .filter((_, at) => grants.indexOf(grants[at] ?? '') === at)
      .map(({ identifier, userAgent, ipAddress, createdAt }) => ({
        id: grantOf(identifier),
        name: userAgent ?? '',
        address: ipAddress || null,
        usedAt: createdAt.getTime(),
      }));
  }

  /** Ends a connection of the user. Returns its name; undefined if there is no such. */
  async end(userId: string, id: string): Promise<string | undefined> {
    const found = (await this.list(userId)).find((one) => one.id === id);
    if (found !== undefined) await this.#remove(rowsOf(`${id}.`, userId));
    return found?.name;
  }

  /** Gives the connection its next row and tokens. Two requests with one token get the same row. */
  async #continue(
    { value, userAgent = null, ipAddress = null, identifier }: Row,
    parts: Parts,
    clientId: string,
  ): Promise<Tokens> {
    const { adapter } = await this.#authProvider.context();
    const { grant, factor, bound } = parts;
    const left = (Number(bound) - this.#after(0)) / secondMs;
    const secondsOf = (most: number) => Math.min(most, left);
    const generation = await this.#next(identifier);
    const next = rowOf(grant, generation);
    if ((await adapter.findOne({ model, where: [{ field: 'identifier', value: next }] })) === null)
      await this.#create(
        { identifier: next, value, userAgent, ipAddress },
        secondsOf(applicationLifeSeconds),
      );
    const graceEnd = new Date(this.#after(applicationGraceSeconds));
    const ofThis = [{ field: 'identifier', value: identifier }];
    const isLonger = { field: 'expiresAt', operator: 'gt' as const, value: graceEnd };
    await adapter.updateMany({ model, where: [...ofThis, isLonger], update: { expiresAt: graceEnd } });
    await this.#remove([
      ...rowsOf(`${grant}.`, value),
      { field: 'expiresAt', operator: 'lt', value: new Date(this.#after(0)) },
    ]);
    const tokenOf = (kind: Kind, seconds: number) =>
      this.#sign(kind, { grant, generation, factor, bound, until: this.#after(secondsOf(seconds)) });
    return {
      access: await tokenOf('access', applicationAccessSeconds),
      refresh: await tokenOf(refreshOf(clientId), applicationLifeSeconds),
    };
  }

  /** A token that was used before is sent again: one of the two who have it stole it. */
  async #endGrant(grant: string): Promise<undefined> {
    await this.#remove([{ field: 'identifier', operator: 'starts_with', value: rowOf(grant, '') }]);
  }

  async #create(
    row: Pick<Row, 'identifier' | 'value' | 'userAgent' | 'ipAddress'>,
    seconds: number,
  ): Promise<{ readonly id: string }> {
    const { adapter } = await this.#authProvider.context();
    const [createdAt, expiresAt] = [new Date(this.#after(0)), new Date(this.#after(seconds))];
    const data = { ...row, createdAt, updatedAt: createdAt, expiresAt };
    return adapter.create<typeof data, { readonly id: string }>({ model, data });
  }

  async #findRow({ grant, generation }: Parts): Promise<Row | undefined> {
    const { adapter } = await this.#authProvider.context();
    const where = [{ field: 'identifier', value: rowOf(grant, generation) }];
    const row = await adapter.findOne<Row>({ model, where });
    return row === null || row.expiresAt.getTime() <= this.#after(0) ? undefined : row;
  }

  async #remove(where: Where[]): Promise<number> {
    return (await this.#authProvider.context()).adapter.deleteMany({ model, where });
  }

  async #next(identifier: string): Promise<string> {
    const { newest } = await this.#authProvider.secrets();
    return createHmac('sha256', `next ${newest}`).update(identifier).digest('hex').slice(0, 32);
  }

  async #sign(kind: Kind, { grant, generation, factor, until, bound }: Parts): Promise<string> {
    const text = [grant, generation, factor, Math.ceil(until / secondMs), bound].join('.');
    const secrets = await this.#authProvider.secrets();
    return `${APPLICATION_TOKEN_PREFIX}${text}.${secrets.sign(`application ${kind}`, text)}`;
  }

  async #read(kind: Kind, token: string): Promise<Parts | undefined> {
    const at = token.lastIndexOf('.');
    const text = token.slice(APPLICATION_TOKEN_PREFIX.length, Math.max(at, APPLICATION_TOKEN_PREFIX.length));
    const secrets = await this.#authProvider.secrets();
    if (!token.startsWith(APPLICATION_TOKEN_PREFIX)) return undefined;
    if (!secrets.verify(`application ${kind}`, text, token.slice(at + 1))) return undefined;
    const [grant = '', generation = '', factor = '', until = '', bound = ''] = text.split('.');
    const end = Number(until) * secondMs;
    return end > this.#after(0) ? { grant, generation, factor, until: end, bound } : undefined;
  }

  /** The time in so many seconds. */
  #after(seconds: number): number {
    return this.#authProvider.clock.now() + seconds * secondMs;
  }
}

type Where = { field: string; operator?: 'starts_with' | 'lt'; value: string | Date };

function rowOf(grant: string, generation: string): string {
  return `${APPLICATION_PREFIX}${grant}.${generation}`;
}

function grantOf(identifier: string): string {
  return identifier.slice(APPLICATION_PREFIX.length).split('.')[0] ?? '';
}

function rowsOf(start: string, userId: string): Where[] {
  return [
    { field: 'value', value: userId },
    { field: 'identifier', operator: 'starts_with', value: APPLICATION_PREFIX + start },
  ];
}

/** A refresh token is signed for one application, so that no other can use it (RFC 6749, section 10.4). */
function refreshOf(clientId: string): Kind {
  return `refresh ${clientId}`;
}

function bind({ clientId, redirectUri, challenge }: CodeRequest): string {
  return createHash('sha256').update([clientId, redirectUri, challenge].join('\n')).digest('base64url');
}

function isEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
