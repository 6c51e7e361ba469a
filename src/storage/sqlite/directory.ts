/** Organizations, projects, keys and people. Every request of a server begins with `findAccess`. */
import { SharedCalls } from '../../shared/shared-calls.js';
import type { Access, DirectoryChanges } from '../ports/directory.js';
import { SqlDirectory } from '../sql/parts.js';
import type { Run, Session } from '../sql/session.js';
import { SQLITE } from './dialect.js';
import type { SqliteFile } from './file.js';

export class SqliteDirectory extends SqlDirectory {
  readonly #file: SqliteFile;
  readonly #accesses = new SharedCalls<Access | undefined>();

  constructor(file: SqliteFile, reads: Session, run: Run<DirectoryChanges>) {
    super(reads, SQLITE, run);
    this.#file = file;
  }

  findAccess(keyHash: string, projectId: string, withProof = false): Promise<Access | undefined> {
    return this.#accesses.ask(`${keyHash} ${projectId} ${withProof}`, async () => {
      // Before the snapshot.
      const { stamp } = this.#file;
      const found = this.#file.read((reader) => {
        // A request starts with this, and goes on to what it wants to read. A snapshot takes longer than finding a key.
        reader.snapshot.hold();
        return reader.findAccess(keyHash, projectId);
      });
      if (!withProof || found === undefined || stamp === undefined) return found;
      // The V8 of Node 20 gives each `{ ...found, proof }` a shape of its own: it would compile again what recordings run.
      return { key: found.key, project: found.project, proof: { keyHash, stamp } };
    });
  }
}
