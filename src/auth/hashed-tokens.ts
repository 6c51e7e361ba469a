/** Stores session tokens as hashes, so that a copy of the database contains no session that could be used. */
import { createHash } from 'node:crypto';
import type { DBAdapter, Where } from 'better-auth';

/** Begins what is stored instead of a token. Tokens of the library are letters and digits. */
const HASHED = 'sha256:';

/** Tokens are 32 random letters and digits, so a fast hash is enough. */
function hashToken(token: string): string {
  return HASHED + createHash('sha256').update(token).digest('base64url');
}

/**
 * Replaces the methods of the library's adapter. The library passes tokens and gets them back wherever it knows them. In lists
 * of sessions they stay hashed: those may end a session, but never find one.
 */
export function hashTokens(adapter: DBAdapter): DBAdapter {
  const { create, findOne, findMany, update, delete: remove, deleteMany } = adapter;
  return Object.assign(adapter, {
    async create<T extends Record<string, unknown>, R = T>(data: Parameters<typeof create<T, R>>[0]) {
      const { token } = data.data as { readonly token?: unknown };
      if (data.model !== 'session' || typeof token !== 'string') return create<T, R>(data);
      const created = await create<T, R>({ ...data, data: { ...data.data, token: hashToken(token) } });
      return { ...created, token };
    },
    async findOne<T>(data: Parameters<typeof findOne>[0]) {
      const token = data.model === 'session' ? findToken(data.where) : undefined;
      const found = await findOne<T>({ ...data, where: hashIn(data, hashToken) });
      return found === null || token === undefined ? found : { ...found, token };
    },
    findMany: <T>(data: Parameters<typeof findMany>[0]) =>
      findMany<T>(
        data.where === undefined
          ? data
          : { ...data, where: hashIn({ ...data, where: data.where }, hashToken) },
      ),
    async update<T>(data: Parameters<typeof update>[0]) {
      const token = data.model === 'session' ? findToken(data.where) : undefined;
      const updated = await update<T>({ ...data, where: hashIn(data, hashToken) });
      return updated === null || token === undefined ? updated : { ...updated, token };
    },
    delete: <T>(data: Parameters<typeof remove>[0]) =>
      remove<T>({ ...data, where: hashIn(data, hashUnlessHashed) }),
    deleteMany: (data: Parameters<typeof deleteMany>[0]) =>
      deleteMany({ ...data, where: hashIn(data, hashUnlessHashed) }),
  });
}

function findToken(where: readonly Where[]): string | undefined {
  const value = where.find(({ field }) => field === 'token')?.value;
  return typeof value === 'string' ? value : undefined;
}

function hashIn(
  { model, where }: { readonly model: string; readonly where: readonly Where[] },
  hash: (token: string) => string,
): Where[] {
  return where.map((one) => {
    if (model !== 'session' || one.field !== 'token') return one;
    const { value } = one;
    return {
      ...one,
      value: Array.isArray(value) ? value.map((token) => hash(String(token))) : hash(String(value)),
    };
  });
}

/** A session that was listed has its hash instead of its token. */
function hashUnlessHashed(token: string): string {
  return token.startsWith(HASHED) ? token : hashToken(token);
}
