/** Removing old data from PostgreSQL, and checks of the database and its servers. */
import { ALL_TIME } from '../../domain/counting/date-range.js';
import type { Cleanup, Maintenance, Verification } from '../ports/maintenance.js';
import {
  type ServerState,
  STORE_PARTS,
  type StorePart,
  type StoreStats,
  statsTimeoutMs,
} from '../ports/store-stats.js';
import type { RecordingCheck } from '../recording-check.js';
import { HAS_CITUS, probeServers, requireAnyServer, type ShardServer } from './connection/cluster.js';
import { withDatabaseDeadline } from './connection/database.js';
import type { OpenDatabase } from './connection/open-database.js';
import type { PostgresCounts } from './counts.js';
import { Cleaner } from './purge.js';
import { verify } from './verify.js';

export class PostgresMaintenance implements Maintenance {
  readonly #database: OpenDatabase;
  readonly #counts: PostgresCounts;
  readonly #recordingCheck: RecordingCheck;
  readonly #cleaner: Cleaner;

  constructor(database: OpenDatabase, counts: PostgresCounts, recordingCheck: RecordingCheck) {
    this.#database = database;
    this.#counts = counts;
    this.#recordingCheck = recordingCheck;
    this.#cleaner = new Cleaner(database);
  }

  async purgeDeleted(limit: number): Promise<Cleanup> {
    await this.#database.requireReady();
    return this.#cleaner.purgeDeleted(limit);
  }

  async applyRetention(nowMs: number, limit: number): Promise<Cleanup> {
    await this.#database.requireReady();
    return this.#cleaner.applyRetention(nowMs, limit);
  }

  async verify(): Promise<Verification> {
    await this.#database.requireReady();
    const { connections, statements } = this.#database;
    return connections.session((session) => verify(session, statements));
  }

  async check(part?: StorePart): Promise<void> {
    this.#database.requireOpen();
    const { connections, schema } = this.#database;
    const checks: Readonly<Record<StorePart, () => Promise<unknown>>> = {
      database: () => connections.read({ text: 'SELECT 1' }),
      schema: () => schema.check(),
      counts: () => this.#requireCount(),
    };
    for (const one of part === undefined ? STORE_PARTS : [part]) await checks[one]();
  }

  async checkRecording(nowMs: number): Promise<void> {
    this.#database.requireOpen();
    await this.#recordingCheck.run(nowMs);
  }

  async stats(): Promise<StoreStats> {
    const { pending } = this.#counts;
    // The pools as they are before reading the size takes a connection.
    const { connections, statements, pools } = this.#database;
    const size = withDatabaseDeadline(statsTimeoutMs, () =>
      connections.read<{ readonly bytes: number }>({ text: statements.databaseSize }),
    );
    const sizeBytes = await size.then(([row]) => row?.bytes).catch(() => undefined);
    const servers = sizeBytes === undefined ? [] : await this.#serverStates();
    return { ...pending, pools, sizeBytes, servers };
  }

  /** On a cluster, one dead server makes no node unready: the others' projects are served. */
  async #requireCount(): Promise<void> {
    const servers = await this.#findServers();
    const count = (projectId: string) => this.#counts.count(projectId, ALL_TIME);
    if (servers.length > 0) return requireAnyServer(servers, count);
    await count('');
  }

  async #serverStates(): Promise<ServerState[]> {
    const find = withDatabaseDeadline(statsTimeoutMs, () => this.#findServers());
    return probeServers(await find.catch(() => []), (projectId) => this.#counts.count(projectId, ALL_TIME));
  }

  async #findServers(): Promise<ShardServer[]> {
    const [citus] = await this.#database.connections.read({ text: HAS_CITUS });
    return citus === undefined ? [] : this.#database.read('findServers');
  }
}
