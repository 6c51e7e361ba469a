/** The keys of queries in telemetry, each with the query that it means, for every SQL database. Within a transaction. */
import type { StoredKey } from '../../../domain/queries/query-identity.js';
import { SqlTables } from '../tables.js';

export type Keys = Map<string, StoredKey>;

/** A key to add, and when it ends. */
export type NewKey = StoredKey & { readonly expiresAt: number };

export type KeyRow = Omit<StoredKey, 'isTaken'> & { readonly name: string; readonly isTaken: number };

export const KEY_COLUMNS = 'name, query_id AS "queryId", is_taken AS "isTaken", service';

export class SqlQueryKeys extends SqlTables {
  readonly #table = this.table('question_key');
  readonly #project = this.dialect.projectColumn;

  /** Locks the keys that are there. Sorted, so that two transactions cannot wait for each other. */
  async load(project: unknown, names: readonly string[], lock = this.dialect.lock('UPDATE')): Promise<Keys> {
    const rows = await this.session.all<KeyRow>(
      `SELECT ${KEY_COLUMNS} FROM ${this.#table}
       WHERE ${this.#project} = $1 AND name IN (${this.dialect.jsonElements('$2')})
       ORDER BY name ${lock}`,
      [project, JSON.stringify(names)],
    );
    return toKeys(rows);
  }

  /** Those of names from `from` and before `to`, which are not locked. */
  async loadBetween(project: unknown, from: string, to: string): Promise<Keys> {
    const rows = await this.session.all<KeyRow>(
      `SELECT ${KEY_COLUMNS} FROM ${this.#table} WHERE ${this.#project} = $1 AND name >= $2 AND name < $3`,
      [project, from, to],
    );
    return toKeys(rows);
  }

  /** Returns the names of the keys that were not there. */
  async add(project: unknown, added: Iterable<readonly [string, NewKey]>): Promise<string[]> {
    const inserted = await this.#write(project, added, 'ON CONFLICT DO NOTHING RETURNING name');
    return inserted.map(({ name }) => name);
  }

  async update(
    project: unknown,
    changes: Iterable<readonly [string, StoredKey]>,
    stored: Keys,
  ): Promise<void> {
    const changed = [...changes].flatMap(([name, key]) => {
      const before = stored.get(name);
      return before !== undefined && !isSame(before, key) ? [[name, { ...key, expiresAt: 0 }] as const] : [];
    });
    // They are there and locked, and keep their end: this updates many at once.
    const tail = `ON CONFLICT (${this.#project}, name) DO UPDATE SET query_id = excluded.query_id,
      is_taken = excluded.is_taken, service = excluded.service`;
    await this.#write(project, changed, tail);
  }

  async remove(project: unknown, names: readonly string[]): Promise<void> {
    if (names.length === 0) return;
    await this.session.run(
      `DELETE FROM ${this.#table} WHERE ${this.#project} = $1 AND name IN (${this.dialect.jsonElements('$2')})`,
      [project, JSON.stringify(names)],
    );
  }

  #write(project: unknown, keys: Iterable<readonly [string, NewKey]>, tail: string) {
    const rows = [...keys]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, { queryId, isTaken, service, expiresAt }]) => [
        project,
        name,
        queryId,
        isTaken ? 1 : 0,
        service,
        expiresAt,
      ]);
    return this.insert<{ readonly name: string }>(
      `${this.#table} (${this.#project}, name, query_id, is_taken, service, expires_at)`,
      rows,
      tail,
    );
  }
}

function toKeys(rows: readonly KeyRow[]): Keys {
  return new Map(rows.map(toKey).map(({ name, ...key }) => [name, key]));
}

export function toKey<Stored extends KeyRow>({ isTaken, ...row }: Stored) {
  return { ...row, isTaken: isTaken === 1 };
}

function isSame(one: StoredKey, other: StoredKey): boolean {
  return one.queryId === other.queryId && one.isTaken === other.isTaken && one.service === other.service;
}
