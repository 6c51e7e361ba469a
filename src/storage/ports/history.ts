/**
 * The part of the storage port that tells how the counts of a project came about. What `store.ts` says of every method holds here
 * too. Methods throw `not_found` if the project does not exist.
 */
import type { DateRange } from '../../domain/counting/date-range.js';
import type { PastCorrection, PastQueries } from '../../domain/history/timeline.js';

/** What is known of a project's past. */
export interface Past {
  /** Nobody knows when what was recorded before this time arrived; null if there is nothing like that. */
  readonly knownFrom: number | null;
  /** Nobody knows what occurred before this time, because retention has removed its rows; null if nothing in the range did. */
  readonly rowsFrom: number | null;
  readonly corrections: readonly PastCorrection[];
  /**
   * The last UTC day on which telemetry told more of queries that had arrived on earlier ones and were corrected, while stores did
   * not note both; null if it never did. Nobody knows for whom they counted before.
   */
  readonly lateDay: number | null;
}

/** Queries that occurred in a range, to be read. */
export interface PastRange extends DateRange {
  /** The moment, the start of a UTC day. What arrived or occurred before it is told apart from the rest. */
  readonly atMs: number;
  /** So are queries of different spans of this length, counted from the start of the range. */
  readonly spanMs: number;
}

/** A part of the queries and imported counts. */
export interface PastPage {
  readonly queries: readonly PastQueries[];
  /** Where the next page begins; null after the last one. */
  readonly next: string | null;
}

export interface History {
  findPast(projectId: string, range: DateRange): Promise<Past>;

  /**
   * What occurred in a range, withdrawn or not, in parts of bounded time, each of which is one snapshot: the part that begins at
   * `from`, or the first one if that is null.
   */
  readPast(projectId: string, range: PastRange, from: string | null): Promise<PastPage>;
}
