/** The keys of queries in telemetry, for every SQL database. Each method is one transaction. */
import {
  type FoundFacts,
  type FoundPlan,
  finalIdIn,
  type KeptState,
  planFound,
  planUnion,
} from '../../../domain/queries/found-queries.js';
import type { Query } from '../../../domain/queries/query.js';
import {
  type IdentityPlan,
  isOfOther,
  isRequestName,
  keyNames,
  planIdentities,
  type QueryKeys,
  type StoredKey,
  spanPrefix,
  strongestQueryId,
  traceIdOf,
  traceKeyName,
  traceQueryId,
  uniteKeys,
} from '../../../domain/queries/query-identity.js';
import type { IdSource } from '../../../domain/queries/telemetry-settings.js';
import { dayMs } from '../../../domain/time/duration.js';
import {
  type CarriedKey,
  expiredKeysMin,
  type Identified,
  type IdentityChanges,
  type KnownIdentities,
  keysKeptMs,
} from '../../ports/identities.js';
import { notFound } from '../changes.js';
import type { QueryChanges } from '../corrections/query-rows.js';
import type { Dialect, Session } from '../session.js';
import { SqlTables } from '../tables.js';
import { SqlFoundStates } from './found-states.js';
import { type Keys, SqlQueryKeys } from './query-keys.js';
import { SqlWaitingRequests, toRequest } from './waiting-requests.js';

interface Times {
  readonly nowMs: number;
  readonly expiryMs: number;
}

/** Of a trace without a query. Only the transaction that stores it sees it. */
const HELD: StoredKey = { queryId: '', isTaken: false, service: '' };

export class SqlIdentityChanges extends SqlTables implements IdentityChanges {
  readonly #changes: QueryChanges;
  readonly #states: SqlFoundStates;
  readonly #waiting: SqlWaitingRequests;
  readonly #keys: SqlQueryKeys;
  readonly #table = this.table('question_key');
  readonly #project = this.dialect.projectColumn;

  constructor(session: Session, dialect: Dialect, changes: QueryChanges) {
    super(session, dialect);
    this.#changes = changes;
    this.#states = new SqlFoundStates(session, dialect);
    this.#waiting = new SqlWaitingRequests(session, dialect);
    this.#keys = new SqlQueryKeys(session, dialect);
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
    await this.#states.settle(await this.#lockProject(projectId), queryIds, nowMs, this.#changes);
  }

  async restore(
    projectId: string,
    { states = [], keys = [] }: KnownIdentities,
    nowMs: number,
  ): Promise<readonly Query[]> {
    const project = await this.#lockProject(projectId);
    const own = keys.filter(({ name }) => !isRequestName(name));
    const merges = await this.#uniteKeys(project, new Map(own.map((key) => [key.name, key])));
    await this.#uniteStates(project, new Map(states.map(({ id, ...state }) => [id, state])), merges, nowMs);
    const traces = keys.flatMap(({ name, service }) => {
      const traceId = traceIdOf(name);
      return traceId === undefined ? [] : [{ traceId, service }];
    });
    const requests = [
      ...keys
        .filter(({ name }) => isRequestName(name))
        .map(({ queryId, ...key }) => toRequest({ ...key, text: queryId })),
      ...(await this.#waiting.findFor(project, traces, nowMs)),
    ];
    if (requests.length > 0) await this.#planByKeys(projectId, project, requests, { nowMs, expiryMs: nowMs });
    return this.#states.listPending(projectId, project, nowMs);
  }

  /** As corrections do, so that only one of them moves a query at a time. */
  async #lockProject(projectId: string): Promise<unknown> {
    const found = await this.get<{ readonly key: unknown }>(
      `SELECT ${this.dialect.projectKeyColumn} AS key FROM ${this.table('project')}
       WHERE id = $1 ${this.dialect.andNotDeleted} ${this.dialect.lock('UPDATE')}`,
      [projectId],
    );
    if (found === undefined) throw notFound(`project ${projectId}`);
    return found.key;
  }

  /** Returns the queries that turn out to be one. */
  async #uniteKeys(
    project: unknown,
    given: ReadonlyMap<string, CarriedKey>,
  ): Promise<IdentityPlan['merges']> {
    if (given.size === 0) return [];
    for (;;) {
      const stored = await this.#keys.load(project, await this.#namesToUnite(project, given));
      const differing = [...given].flatMap(([name, { queryId }]) => {
        const here = stored.get(name);
        return here === undefined || here.queryId === queryId ? [] : [queryId, here.queryId];
      });
      const states = await this.#states.load(project, differing);
      const rows = await this.#changes.findByIds(project, differing);
      const known = new Set([...states.keys(), ...rows.map(({ id }) => id)]);
      // Another copy brings those that arrived there since it read them.
      const sound = [...given].filter(([name, { queryId }]) => {
        const here = stored.get(name);
        return here === undefined || here.queryId === queryId || known.has(queryId);
      });
      const { changes, merges } = uniteKeys(new Map(sound), stored, finalIdIn(states));
      const added = [...changes].flatMap(([name, key]) => {
        const expiresAt = given.get(name)?.expiresAt;
        return stored.has(name) || expiresAt === undefined ? [] : [[name, { ...key, expiresAt }] as const];
      });
      if ((await this.#keys.add(project, added)).length < added.length) continue;
      await this.#keys.update(project, changes, stored);
      return merges;
    }
  }

  /** The names of these keys, and those of all spans of traces in which two services asked. Sorted. */
  async #namesToUnite(project: unknown, given: ReadonlyMap<string, StoredKey>): Promise<string[]> {
    const names = [...given.keys()];
    const traces = names.filter((name) => traceIdOf(name) !== undefined);
    const there = await this.#keys.load(project, traces, '');
    for (const name of traces) {
      const [key, here] = [given.get(name), there.get(name)];
      if (key === undefined || here === undefined || !isOfOther(name, key, here)) continue;
      const prefix = spanPrefix(name);
      names.push(...(await this.#keys.loadBetween(project, prefix, `${prefix}~`)).keys());
    }
    return [...new Set(names)].sort();
  }

  async #uniteStates(
    project: unknown,
    given: ReadonlyMap<string, KeptState>,
    merges: IdentityPlan['merges'],
    nowMs: number,
  ): Promise<void> {
    if (given.size === 0 && merges.length === 0) return;
    const ids = [...given].flatMap(([id, { countsAs }]) => (countsAs ? [id, countsAs] : [id]));
    for (;;) {
      const stored = await this.#states.load(project, [...ids, ...merges.flat()]);
      const all = new Set([...ids, ...merges.flat(), ...stored.keys()]);
      for (const { countsAs } of stored.values()) if (countsAs) all.add(countsAs);
      const rows = await this.#changes.findByIds(project, [...all]);
      const corrections = await this.#changes.findCorrections(project, [...all]);
      const corrected = new Set(corrections.map(({ id }) => id));
      const found = new Map(rows.map((row) => [row.id, { ...row, isCorrected: corrected.has(row.id) }]));
      // It was found on an earlier day, so that what it turns out to be is noted.
      const planned = planUnion(given, merges, stored, { rows: found, foundAt: nowMs - dayMs });
      if (await this.#states.store(project, planned, stored, nowMs, true)) return;
    }
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
      const stored = await this.#keys.load(project, [...new Set(queries.flatMap(keyNames))].sort());
      const settled = [...stored].filter(([name]) => !own.has(name));
      const known = new Map([...recorded, ...settled]);
      const plan = planIdentities(queries, known);
      const early = all.filter(({ keys }, at) => keys.isRequest && plan.queryIds[at] === '');
      for (const { keys } of early) held.set(traceKeyName(keys.traceId ?? ''), HELD);
      const expiresAt = nowMs + keysKeptMs;
      const added = [...new Map([...held, ...plan.changes])].flatMap(([name, key]) =>
        stored.has(name) ? [] : [[name, { ...key, expiresAt }] as const],
      );
      const inserted = await this.#keys.add(project, added);
      for (const name of inserted) own.add(name);
      if (inserted.length < added.length) continue;
      const waiting = all === found ? await this.#waiting.findFor(project, queries, expiryMs) : [];
      if (waiting.length > 0) {
        all = [...found, ...waiting];
        continue;
      }
      await this.#keys.update(project, plan.changes, stored);
      await this.#keys.remove(
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
