/** What a store tells those who watch it: numbers, whatever they are shown with. */

/** Connections to a database server that are kept for one purpose. */
export interface ConnectionPool {
  readonly purpose: 'read' | 'write';
  /** Connections at once, at most. */
  readonly max: number;
  readonly used: number;
  readonly idle: number;
  /** Statements that wait for a connection. */
  readonly waiting: number;
}

/** How a store is at one moment. */
export interface StoreFigures {
  /** What waits to be written: requests, and the queries in them. What is being written is not among it. */
  readonly pendingOperations: number;
  readonly pendingQueries: number;
  /** All that is on disk, in bytes; undefined where the store cannot be reached now. */
  readonly sizeBytes: number | undefined;
  /** None for a store without a server of its own. */
  readonly pools: readonly ConnectionPool[];
}

/** How long an answer with figures may take: whoever collects them gives up on all after a few seconds. */
export const figuresTimeoutMs = 2000;

/** Is told of each commit. */
export interface CommitWatch {
  /** Milliseconds, in fractions, of a clock that only goes forward. */
  now(): number;
  /** A group of operations is durable, or failed, after so many milliseconds. */
  committed(ms: number): void;
}

/** Parts of a store that may each be out of order. Each needs those before it. */
export const STORE_PARTS = ['database', 'schema', 'counts'] as const;

export type StorePart = (typeof STORE_PARTS)[number];
