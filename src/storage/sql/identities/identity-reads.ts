/** What copies read of the keys of queries in telemetry, for every SQL database. */
import type { CarriedKey, CarriedState, IdentityReads } from '../../ports/identities.js';
import { SqlTables } from '../tables.js';
import { STATE_COLUMNS, type StateRow, toState } from './found-states.js';
import { KEY_COLUMNS, type KeyRow, toKey } from './query-keys.js';

type Ending = { readonly expiresAt: number };

export class SqlIdentityReads extends SqlTables implements IdentityReads {
  async readKeys(...page: Parameters<IdentityReads['readKeys']>): Promise<CarriedKey[]> {
    const rows = await this.#readPage<KeyRow & Ending>('question_key', KEY_COLUMNS, 'name', ...page);
    return rows.map(toKey);
  }

  async readStates(...page: Parameters<IdentityReads['readStates']>): Promise<CarriedState[]> {
    const rows = await this.#readPage<StateRow & Ending>(
      'found_query',
      `id, ${STATE_COLUMNS}`,
      'id',
      ...page,
    );
    return rows.map(toState);
  }

  async #readPage<R>(
    table: string,
    columns: string,
    name: string,
    ...[projectId, after = '', limit, expiryMs]: Parameters<IdentityReads['readKeys']>
  ): Promise<R[]> {
    const project = await this.dialect.findProjectKey(this.session, projectId);
    return this.session.all<R>(
      `SELECT ${columns}, expires_at AS "expiresAt" FROM ${this.table(table)}
       WHERE ${this.dialect.projectColumn} = $1 AND ${name} > $2 AND expires_at > $3 ORDER BY ${name} LIMIT $4`,
      [project, after, expiryMs, limit],
    );
  }
}
