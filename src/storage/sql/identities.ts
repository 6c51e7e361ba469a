/** The keys of queries in telemetry, for every SQL database. Each method is one transaction. */
import {
  keyNames,
  planIdentities,
  type QueryKeys,
  type StoredKey,
  traceKeyName,
  traceQueryId,
} from '../../domain/queries/query-identity.js';
import { expiredKeysMin, type Identities, keysKeptMs } from '../ports/identities.js';
import { SqlTables } from './tables.js';

type Keys = Map<string, StoredKey>;
type KeyRow = Omit<StoredKey, 'isTaken'> & { readonly name: string; readonly isTaken: number };

export class SqlIdentityChanges extends SqlTables implements Identities {
  readonly #table = this.table('question_key');
  readonly #project = this.dialect.projectColumn;

  /** Each round plans with what is stored, and ends when no other transaction has stored one of the new keys meanwhile. */
  async identify(projectId: string, queries: readonly QueryKeys[], nowMs: number): Promise<string[]> {
    const project = await this.dialect.findProjectKey(this.session, projectId);
    const names = [...new Set(queries.flatMap(keyNames))].sort();
    await this.#removeExpired(project, nowMs, Math.max(expiredKeysMin, 2 * names.length));
    const recorded = await this.#findRecorded(projectId, queries);
    // Keys that this transaction has inserted. Their plan may still change.
    const own = new Set<string>();
    for (;;) {
      const stored = await this.#find(project, names);
      const settled = [...stored].filter(([name]) => !own.has(name));
      const { queryIds, changes } = planIdentities(queries, new Map([...recorded, ...settled]));
      const added = [...changes].filter(([name]) => !stored.has(name));
      const inserted = await this.#insert(project, added, nowMs + keysKeptMs);
      for (const name of inserted) own.add(name);
      if (inserted.length < added.length) continue;
      await this.#update(project, changes, stored);
      return [...queryIds];
    }
  }

  /** Traces that an earlier version has recorded, or whose key has expired. Each is a query without a stronger key. */
  async #findRecorded(projectId: string, queries: readonly QueryKeys[]): Promise<Keys> {
    const traces = new Map<string, readonly [name: string, service: string]>();
    for (const { traceId, service } of queries) {
      if (traceId !== undefined) traces.set(traceQueryId(traceId), [traceKeyName(traceId), service]);
    }
    const queryIds = await this.dialect.findRecordedIds(this.session, projectId, [...traces.keys()]);
    const keys: Keys = new Map();
    for (const queryId of queryIds) {
      const [name, service] = traces.get(queryId) ?? [];
      if (name !== undefined && service !== undefined) keys.set(name, { queryId, isTaken: false, service });
    }
    return keys;
  }

  /** Locks the keys that are there. Sorted, so that two transactions cannot wait for each other. */
  async #find(project: unknown, names: readonly string[]): Promise<Keys> {
    const rows = await this.session.all<KeyRow>(
      `SELECT name, query_id AS "queryId", is_taken AS "isTaken", service FROM ${this.#table}
       WHERE ${this.#project} = $1 AND name IN (${this.dialect.jsonElements('$2')})
       ORDER BY name ${this.dialect.lock('UPDATE')}`,
      [project, JSON.stringify(names)],
    );
    return new Map(rows.map(({ name, isTaken, ...key }) => [name, { ...key, isTaken: isTaken === 1 }]));
  }

  /** Returns the names of the keys that were not there. */
  async #insert(
    project: unknown,
    added: readonly (readonly [string, StoredKey])[],
    expiresAt: number,
  ): Promise<string[]> {
    const rows = added
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, { queryId, isTaken, service }]) => [
        project,
        name,
        queryId,
        isTaken ? 1 : 0,
        service,
        expiresAt,
      ]);
    const inserted = await this.insert<{ readonly name: string }>(
      `${this.#table} (${this.#project}, name, query_id, is_taken, service, expires_at)`,
      rows,
      'ON CONFLICT DO NOTHING RETURNING name',
    );
    return inserted.map(({ name }) => name);
  }

  async #update(project: unknown, changes: ReadonlyMap<string, StoredKey>, stored: Keys): Promise<void> {
    for (const [name, changed] of changes) {
      const { queryId, isTaken, service } = changed;
      const before = stored.get(name);
      if (before === undefined || isSame(before, changed)) continue;
      await this.session.run(
        `UPDATE ${this.#table} SET query_id = $3, is_taken = $4, service = $5 WHERE ${this.#project} = $1 AND name = $2`,
        [project, name, queryId, isTaken ? 1 : 0, service],
      );
    }
  }

  async #removeExpired(project: unknown, nowMs: number, max: number): Promise<void> {
    await this.session.run(
      `DELETE FROM ${this.#table} WHERE ${this.#project} = $1 AND name IN (
         SELECT name FROM ${this.#table} WHERE ${this.#project} = $1 AND expires_at <= $2
         LIMIT $3 ${this.dialect.lock('UPDATE SKIP LOCKED')})`,
      [project, nowMs, max],
    );
  }
}

function isSame(one: StoredKey, other: StoredKey): boolean {
  return one.queryId === other.queryId && one.isTaken === other.isTaken && one.service === other.service;
}
