/** Organizations, projects, keys and people. Every request of a server begins with `findAccess`. */
import { SharedCalls } from '../../shared/shared-calls.js';
import type { Access } from '../ports/directory.js';
import { REPEATABLE_CHANGES, SqlDirectoryChanges } from '../sql/directory-changes.js';
import { SqlDirectory } from '../sql/parts.js';
import { KEY, PROJECT } from '../sql/rows.js';
import { call } from '../sql/session.js';
import type { OpenDatabase } from './connection/open-database.js';

export class PostgresDirectory extends SqlDirectory {
  readonly #database: OpenDatabase;
  readonly #accesses = new SharedCalls<Access | undefined>();

  constructor(database: OpenDatabase) {
    const { session, dialect } = database;
    super(session, dialect, (method, args) =>
      REPEATABLE_CHANGES.includes(method)
        ? call(new SqlDirectoryChanges(session, dialect), method, args)
        : database.changeInOrder((own) => call(new SqlDirectoryChanges(own, dialect), method, args)),
    );
    this.#database = database;
  }

  /** Many requests of a busy key arrive together, and on Citus each look-up asks another server. */
  findAccess(keyHash: string, projectId: string, withProof = false): Promise<Access | undefined> {
    return this.#accesses.ask(`${keyHash} ${projectId} ${withProof}`, () =>
      this.#findAccess(keyHash, projectId, withProof),
    );
  }

  /** On a cluster from the copies: a worker that is down hides no projects. */
  protected override readonly projectsTable = async (): Promise<string> => {
    const copies = await this.#database.read('findCopy');
    return copies.length === 0 ? PROJECT.table : 'project_copy';
  };

  async #findAccess(keyHash: string, projectId: string, withProof: boolean): Promise<Access | undefined> {
    const [row] = await this.#database.read('findAccess', [keyHash, projectId, withProof]);
    // Every request with a key does this, so a node stops as soon as another one has changed the schema.
    this.#database.schema.requireVersion(row?.['schemaVersion']);
    if (row === undefined || row['id'] === null) return undefined;
    const stamp = row['stamp'];
    return {
      proof: typeof stamp === 'string' ? { keyHash, stamp } : undefined,
      key: KEY.read(row),
      project: row['foundId'] === null ? undefined : PROJECT.read(row, 'found'),
    };
  }
}
