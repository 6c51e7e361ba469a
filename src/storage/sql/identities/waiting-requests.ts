/**
 * Requests that named their caller, or had an id, before a query of their trace was found: that one takes both from here, whichever
 * process finds it. For every SQL database. Within a transaction.
 */
import { type FoundFacts, readRequest, writeRequest } from '../../../domain/queries/found-queries.js';
import { type QueryKeys, requestKeyName, requestTraceId } from '../../../domain/queries/query-identity.js';
import { statesKeptMs, waitingRequestsMax } from '../../ports/identities.js';
import { SqlTables } from '../tables.js';

interface RequestRow {
  readonly name: string;
  readonly text: string;
  readonly service: string;
  readonly expiresAt: number;
}

/** About one request in 4,096 has a trace id with this end, and removes those beyond the limit. */
const SOMETIMES = '000';

export class SqlWaitingRequests extends SqlTables {
  readonly #table = this.table('question_key');
  readonly #project = this.dialect.projectColumn;

  /** Those of the traces of these queries. */
  async findFor(project: unknown, queries: readonly QueryKeys[], expiryMs: number): Promise<FoundFacts[]> {
    const traces = queries.flatMap(({ traceId, isRequest }) => (isRequest ? [] : (traceId ?? [])));
    if (traces.length === 0) return [];
    // By name alone, because the index of times would be slower.
    const rows = await this.session.all<RequestRow>(
      `SELECT name, query_id AS text, service, expires_at AS "expiresAt" FROM ${this.#table}
       WHERE ${this.#project} = $1 AND name IN (${this.dialect.jsonElements('$2')}) ORDER BY name`,
      [project, JSON.stringify([...new Set(traces)].map(requestKeyName))],
    );
    return rows
      .filter(({ expiresAt }) => expiresAt > expiryMs)
      .map(({ name, text, service }) => readRequest(text, { traceId: requestTraceId(name), service }));
  }

  async add(project: unknown, requests: readonly FoundFacts[], nowMs: number): Promise<void> {
    const rows = requests
      .flatMap((request) => {
        const { traceId, service } = request.keys;
        if (traceId === undefined) return [];
        return [[project, requestKeyName(traceId), writeRequest(request), 0, service, nowMs + statesKeptMs]];
      })
      .toSorted(([, one], [, other]) => (String(one) < String(other) ? -1 : 1));
    await this.insert(
      `${this.#table} (${this.#project}, name, query_id, is_taken, service, expires_at)`,
      rows,
      'ON CONFLICT DO NOTHING RETURNING name',
    );
    if (requests.some(({ keys }) => keys.traceId?.endsWith(SOMETIMES))) await this.#removeOldest(project);
  }

  async #removeOldest(project: unknown): Promise<void> {
    const [from, to] = [requestKeyName(''), requestKeyName('~')];
    await this.session.run(
      `DELETE FROM ${this.#table} WHERE ${this.#project} = $1 AND name IN (
         SELECT name FROM ${this.#table} WHERE ${this.#project} = $1 AND name >= $2 AND name < $3
         ORDER BY expires_at DESC, name LIMIT 1000000 OFFSET ${waitingRequestsMax})`,
      [project, from, to],
    );
  }
}
