/** Counts what arrives at this process by its source, and stores it every few seconds, beside the recording and never in it. */

import { CallerStatsError, isUnavailable } from '../../domain/errors.js';
import { nameOfOperation } from '../../domain/ingestion/operations.js';
import type { IngestionReport } from '../../domain/ingestion/report.js';
import {
  type Delivery,
  IngestionTally,
  type SourceBucket,
  sourceKey,
} from '../../domain/ingestion/source-counts.js';
import { ingestionWriteIntervalMs, sourcesMax, strangersMax } from '../../domain/limits.js';
import type { Project } from '../../domain/projects/project.js';
import type { ProjectRules } from '../../domain/queries/telemetry-settings.js';
import type { Clock } from '../../domain/time/clock.js';
import { hourMs } from '../../domain/time/duration.js';
import { BoundedCache } from '../../shared/bounded-cache.js';
import { sleep } from '../../shared/retry.js';
import { createThrottledWarning, type WarningLog } from '../../shared/throttled-log.js';
import type { ProjectIdentity } from '../../storage/ports/ingestion.js';
import type { Store } from '../../storage/ports/store.js';
import { type IngestionSource, readIngestion } from '../ingestion.js';

interface MonitorOptions {
  readonly store: Pick<Store, 'ingestion'> & Pick<IngestionSource, 'directory'>;
  readonly clock: Clock;
  readonly projectRules: ProjectRules;
  readonly log: WarningLog;
  readonly metrics: { readonly arrived: (delivery: Delivery) => void } | undefined;
}

/** The project of a delivery. For a refused request, `createdAt` is not known; without a known key, only the id is. */
type Place = Pick<Project, 'id'> & ProjectIdentity;

/** What arrived at a project since the last write. */
interface Arrived {
  createdAt: number | undefined;
  organizationId: string | undefined;
  readonly tally: IngestionTally;
}

/** Sources that the log has named, or has no reason to name. Beyond this number it may name them again. */
const settledMax = 100 * sourcesMax;

/** Operations of one source in a line of the log. */
const operationsNamedMax = 3;

export class IngestionMonitor {
  readonly #options: MonitorOptions;
  readonly #warnUnmatched: ReturnType<typeof createThrottledWarning>;
  readonly #warnUnstored: ReturnType<typeof createThrottledWarning>;
  readonly #settled = new BoundedCache<string, true>(settledMax);
  #arrived = new Map<string, Arrived>();
  /** Projects that only strangers named since the last write. */
  #strangers = 0;
  /** The last write. Each waits for the one before it. */
  #written: Promise<void> = Promise.resolve();

  constructor(options: MonitorOptions) {
    this.#options = options;
    this.#warnUnmatched = createThrottledWarning(options.clock);
    this.#warnUnstored = createThrottledWarning(options.clock);
  }

  note(project: Place, delivery: Delivery): void {
    this.#options.metrics?.arrived(delivery);
    this.#find(project).add(delivery, this.#options.clock.now());
  }

  /** What came without a known key, for the project that it names, which may not exist. */
  noteStranger(projectId: string, delivery: Delivery): void {
    if (!this.#arrived.has(projectId) && ++this.#strangers > strangersMax) return;
    this.note({ id: projectId }, delivery);
  }

  /** Stores what has arrived so far. Never rejects: what cannot be stored now is stored later. */
  flush(): Promise<void> {
    this.#written = this.#written.then(() => this.#write());
    return this.#written;
  }

  /** What arrived at all processes, including all that has arrived at this one. */
  async report(project: Project, expiringKeys: 'own' | 'all'): Promise<IngestionReport> {
    const { store, clock, projectRules } = this.#options;
    await this.flush();
    return readIngestion(store, project, {
      nowMs: clock.now(),
      rules: projectRules.find(project).queries,
      expiringKeys,
    });
  }

  /** Stores what arrives every few seconds until `signal` is aborted, and then the rest. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(ingestionWriteIntervalMs, { signal, ref: false });
      await this.flush();
    }
  }

  async #write(): Promise<void> {
    const arrived = this.#arrived;
    this.#arrived = new Map();
    this.#strangers = 0;
    let isAvailable = true;
    for (const [id, { tally, ...identity }] of arrived) {
      const buckets = tally.list();
      const project = { id, ...identity };
      this.#warn(id, buckets);
      // One failure is enough: each takes as long as the database's deadline.
      isAvailable &&= await this.#add(project, buckets);
      if (!isAvailable) this.#putBack(project, buckets);
    }
  }

  /** Returns whether the store is available. */
  async #add({ id, ...identity }: Place, buckets: readonly SourceBucket[]): Promise<boolean> {
    const { store, log } = this.#options;
    try {
      await store.ingestion.add(id, buckets, identity);
    } catch (error) {
      // The project was deleted, or a stranger invented it.
      if (error instanceof CallerStatsError && error.code === 'not_found') return true;
      this.#warnUnstored(log, { err: error }, 'what arrived could not be counted by source');
      return !isUnavailable(error);
    }
    return true;
  }

  /** Keeps them for the next write. If the connection broke during the commit, they will have been counted twice. */
  #putBack(project: Place, buckets: readonly SourceBucket[]): void {
    const since = this.#options.clock.now() - hourMs;
    this.#find(project).addBuckets(buckets.filter(({ seenAt }) => seenAt >= since));
  }

  /** Names a source whose records match no rule, once, and not one of which some match. */
  #warn(projectId: string, buckets: readonly SourceBucket[]): void {
    const unmatched = buckets.filter((source) => {
      const { counts } = source;
      const key = `${projectId} ${sourceKey(source)}`;
      const isSettled = this.#settled.get(key) ?? false;
      if (counts.arrived > 0) this.#settled.set(key, true);
      return !isSettled && counts.unmatched > 0 && counts.unmatched === counts.arrived;
    });
    if (unmatched.length === 0) return;
    const sources = unmatched.map(({ kind, name, counts, operations }) => ({
      kind,
      name,
      unmatched: counts.unmatched,
      operations: [...new Set(Array.from(operations.keys(), nameOfOperation))].slice(0, operationsNamedMax),
    }));
    const message =
      'records match no rule; the page Sources of the project says which rules would accept them';
    this.#warnUnmatched(this.#options.log, { projectId, sources }, message);
  }

  /** What waits for a deleted project is forgotten when something arrives at a new one with its id. */
  #find({ id, createdAt, organizationId }: Place): IngestionTally {
    let arrived = this.#arrived.get(id);
    const isOther =
      (createdAt !== undefined && (arrived?.createdAt ?? createdAt) !== createdAt) ||
      (organizationId !== undefined && (arrived?.organizationId ?? organizationId) !== organizationId);
    if (arrived === undefined || isOther) {
      arrived = { createdAt, organizationId, tally: new IngestionTally() };
      this.#arrived.set(id, arrived);
    }
    arrived.createdAt ??= createdAt;
    arrived.organizationId ??= organizationId;
    return arrived.tally;
  }
}
