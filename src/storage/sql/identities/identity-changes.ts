/** The keys of queries in telemetry, for every SQL database. Each method is one transaction. */
import { type FoundFacts, type FoundPlan, planFound } from '../../../domain/queries/found-queries.js';
import {
  type IdentityPlan,
  keyNames,
  planIdentities,
  type QueryKeys,
  type StoredKey,
  strongestQueryId,
  traceKeyName,
  traceQueryId,
} from '../../../domain/queries/query-identity.js';
import type { IdSource } from '../../../domain/queries/telemetry-settings.js';
import { expiredKeysMin, type Identified, type Identities, keysKeptMs } from '../../ports/identities.js';
import { notFound } from '../changes.js';
import type { QueryChanges } from '../corrections/query-rows.js';
import type { Dialect, Session } from '../session.js';
import { SqlTables } from '../tables.js';
import { SqlFoundStates } from './found-states.js';
import { SqlWaitingRequests } from './waiting-requests.js';

type Keys = Map<string, StoredKey>;
type KeyRow = Omit<StoredKey, 'isTaken'> & { readonly name: string; readonly isTaken: number };

interface Times {
  readonly nowMs: number;
  readonly expiryMs: number;
}

/** Of a trace without a query. Only the transaction that stores it sees it. */
const HELD: StoredKey = { queryId: '', isTaken: false, service: '' };

export class SqlIdentityChanges extends SqlTables implements Identities {
  readonly #changes: QueryChanges;
  readonly #states: SqlFoundStates;
  readonly #waiting: SqlWaitingRequests;
  readonly #table = this.table('question_key');
  readonly #project = this.dialect.projectColumn;

  constructor(session: Session, dialect: Dialect, changes: QueryChanges) {
    super(session, dialect);
    this.#changes = changes;
    this.#states = new SqlFoundStates(session, dialect);
    this.#waiting = new SqlWaitingRequests(session, dialect);
  }

  async identify(
    projectId: string,
    found: readonly FoundFacts[],
    id: IdSource,
    nowMs: number,
    expiryMs = nowMs,
  ): Promise<Identified> {
    const project = await this.dialect.findProjectKey(this.session, projectId);
    const times = { nowMs, expiryMs };
    const plan =
      id === 'question'
        ? await this.#planByKeys(projectId, project, found, times)
        : await this.#planByIds(projectId, project, found, times);
    const pending = await this.#states.listPending(projectId, project, expiryMs);
    return { queryIds: plan.queryIds, callers: plan.callers, pending };
  }

  async settle(projectId: string, queryIds: readonly string[], nowMs: number): Promise<void> {
    // As corrections do, so that only one of them moves a query at a time.
    const found = await this.get<{ readonly key: unknown }>(
      `SELECT ${this.dialect.projectKeyColumn} AS key FROM ${this.table('project')}
       WHERE id = $1 ${this.dialect.andNotDeleted} ${this.dialect.lock('UPDATE')}`,
      [projectId],
    );
    if (found === undefined) throw notFound(`project ${projectId}`);
    await this.#states.settle(found.key, queryIds, nowMs, this.#changes);
  }

  /**
   * Each round plans with what is stored, and ends when no other transaction has stored one of the new keys meanwhile. The key of
   * a trace is held while a request of it finds no query, so that a transaction that finds one sees the request or is seen.
   */
  async #planByKeys(
    projectId: string,
    project: unknown,
    found: readonly FoundFacts[],
    times: Times,
  ): Promise<FoundPlan> {
    const { nowMs, expiryMs } = times;
    const max = Math.max(expiredKeysMin, 2 * new Set(found.flatMap(({ keys }) => keyNames(keys))).size);
    await this.#removeExpired(this.#table, 'name', project, expiryMs, max);
    const recorded = await this.#findRecorded(
      projectId,
      found.map(({ keys }) => keys),
    );
    // Keys that this transaction has inserted. Their plan may still change.
    const own = new Set<string>();
    const held = new Map<string, StoredKey>();
    let all = found;
    for (;;) {
      const queries = all.map(({ keys }) => keys);
      const stored = await this.#find(project, [...new Set(queries.flatMap(keyNames))].sort());
      const settled = [...stored].filter(([name]) => !own.has(name));
      const known = new Map([...recorded, ...settled]);
      const plan = planIdentities(queries, known);
      const early = all.filter(({ keys }, at) => keys.isRequest && plan.queryIds[at] === '');
      for (const { keys } of early) held.set(traceKeyName(keys.traceId ?? ''), HELD);
      const added = [...new Map([...held, ...plan.changes])].filter(([name]) => !stored.has(name));
      const inserted = await this.#insert(project, added, nowMs + keysKeptMs);
      for (const name of inserted) own.add(name);
      if (inserted.length < added.length) continue;
      const waiting = all === found ? await this.#waiting.findFor(project, queries, expiryMs) : [];
      if (waiting.length > 0) {
        all = [...found, ...waiting];
        continue;
      }
      await this.#update(project, plan.changes, stored);
      await this.#release(
        project,
        [...held.keys()].filter((name) => own.has(name) && !plan.changes.has(name)),
      );
      await this.#waiting.add(project, early, nowMs);
      const old = new Set(Array.from(known.values(), ({ queryId }) => queryId));
      const planned = await this.#planStates(project, all, plan, (queryId) => old.has(queryId), times);
      return { ...planned, queryIds: planned.queryIds.slice(0, found.length) };
    }
  }

  async #planByIds(
    projectId: string,
    project: unknown,
    found: readonly FoundFacts[],
    times: Times,
  ): Promise<FoundPlan> {
    const queryIds = found.map(({ keys }) => strongestQueryId(keys) ?? '');
    const old = new Set(await this.dialect.findRecordedIds(this.session, projectId, queryIds));
    const plan = { queryIds, merges: [] };
    return this.#planStates(project, found, plan, (queryId) => old.has(queryId), times);
  }

  async #planStates(
    project: unknown,
    found: readonly FoundFacts[],
    plan: Pick<IdentityPlan, 'queryIds' | 'merges'>,
    isOld: (queryId: string) => boolean,
    { nowMs, expiryMs }: Times,
  ): Promise<FoundPlan> {
    const ids = [...plan.queryIds, ...plan.merges.flat()];
    const max = Math.max(expiredKeysMin, 2 * ids.length);
    await this.#removeExpired(this.table('found_query'), 'id', project, expiryMs, max);
    for (;;) {
      const states = await this.#states.load(project, ids);
      const planned = planFound(found, plan, states, isOld);
      if (await this.#states.store(project, planned.changes, states, nowMs)) return planned;
    }
  }

  async #release(project: unknown, names: readonly string[]): Promise<void> {
    if (names.length === 0) return;
    await this.session.run(
      `DELETE FROM ${this.#table} WHERE ${this.#project} = $1 AND name IN (${this.dialect.jsonElements('$2')})`,
      [project, JSON.stringify(names)],
    );
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
    added: Iterable<[string, StoredKey]>,
    expiresAt: number,
  ): Promise<string[]> {
    const inserted = await this.#write(project, added, expiresAt, 'ON CONFLICT DO NOTHING RETURNING name');
    return inserted.map(({ name }) => name);
  }

  async #update(project: unknown, changes: Iterable<[string, StoredKey]>, stored: Keys): Promise<void> {
    const changed = [...changes].filter(([name, key]) => {
      const before = stored.get(name);
      return before !== undefined && !isSame(before, key);
    });
    // They are there and locked, and keep their end: this updates many at once.
    const tail = `ON CONFLICT (${this.#project}, name) DO UPDATE SET query_id = excluded.query_id,
      is_taken = excluded.is_taken, service = excluded.service`;
    await this.#write(project, changed, 0, tail);
  }

  #write(project: unknown, keys: Iterable<[string, StoredKey]>, expiresAt: number, tail: string) {
    const rows = [...keys]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, { queryId, isTaken, service }]) => [
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

  async #removeExpired(
    table: string,
    column: string,
    project: unknown,
    expiryMs: number,
    max: number,
  ): Promise<void> {
    await this.session.run(
      `DELETE FROM ${table} WHERE ${this.#project} = $1 AND ${column} IN (
         SELECT ${column} FROM ${table} WHERE ${this.#project} = $1 AND expires_at <= $2
         LIMIT $3 ${this.dialect.lock('UPDATE SKIP LOCKED')})`,
      [project, expiryMs, max],
    );
  }
}

function isSame(one: StoredKey, other: StoredKey): boolean {
  return one.queryId === other.queryId && one.isTaken === other.isTaken && one.service === other.service;
}
