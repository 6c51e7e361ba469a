/** What a store reports about itself. */

/** A pool of connections to a database server. */
export interface ConnectionPool {
  readonly purpose: 'read' | 'write';
  /** The worker of a cluster that it is for, as host and port. Undefined for the database itself. */
  readonly server?: string;
  readonly max: number;
  readonly used: number;
  readonly idle: number;
  /** Statements waiting for a connection. */
  readonly waiting: number;
}

/** A server of a cluster that projects are distributed over. */
export interface ServerState {
  /** Host and port. */
  readonly name: string;
  /** Whether its projects can be counted. */
  readonly isUp: boolean;
}

/** What a database says before it is opened. */
export interface Inspected {
  /** The schema version; 0 if there is no database, or nothing in it. */
  readonly version: number;
  /** The version that this program migrates it to. */
  readonly newest: number;
  /** What the clock of the database server says, in milliseconds since 1970. Undefined without a server. */
  readonly clockMs?: number;
  /** The servers of the cluster, if projects are distributed over one. */
  readonly cluster?: readonly ClusterServer[] | IncompleteCluster;
}

/** What is missing: the coordinator's copies of projects, or what functions need there. */
export type IncompleteCluster = 'without copies' | 'without functions';

export interface ClusterServer {
  /** Host and port. */
  readonly name: string;
  readonly projects: number;
  /** Of the tables and indexes of its projects. Null if it does not say. */
  readonly bytes: number | null;
}

export interface StoreStats {
  /** Requests waiting to be written, and the queries in them. Those being written are not included. */
  readonly pendingOperations: number;
  readonly pendingQueries: number;
  /** Size on disk. Undefined if the store is unavailable. */
  readonly sizeBytes: number | undefined;
  /** Empty for SQLite. */
  readonly pools: readonly ConnectionPool[];
  /** Empty unless projects are distributed over a cluster, and if the database cannot be reached. */
  readonly servers: readonly ServerState[];
}

/** Deadline for reading the stats. Metrics collectors give up after a few seconds. */
export const statsTimeoutMs = 2000;

export interface CommitObserver {
  /** Milliseconds of a monotonic clock, with fractions. */
  now(): number;
  /** Called for each commit that has succeeded or failed. */
  committed(durationMs: number, commit: ObservedCommit): void;
}

export interface ObservedCommit {
  /** Undefined if it has succeeded. */
  readonly error?: unknown;
  /** False for duplicates alone. */
  readonly hasWritten: boolean;
}

/** What `Maintenance.check` checks. Each part needs those before it. */
export const STORE_PARTS = ['database', 'schema', 'counts'] as const;

export type StorePart = (typeof STORE_PARTS)[number];
