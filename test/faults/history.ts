/** The history of requests and responses, which is all that the checker knows. */
import type { Counts } from '../../src/domain/counting/counts.js';
import type { DateRange } from '../../src/domain/counting/date-range.js';
import type { RecordResult } from '../../src/storage/ports/store.js';
import type { Form, ProjectId } from './blocks.js';

/** An operation starts with `record` or `count`, and ends with one entry of the same number, or never. */
export type Entry =
  | {
      readonly kind: 'record';
      readonly op: number;
      readonly project: ProjectId;
      readonly blocks: readonly number[];
    }
  | { readonly kind: 'recorded'; readonly op: number; readonly result: RecordResult }
  /** The response promises that nothing was recorded. */
  | { readonly kind: 'refused'; readonly op: number }
  /** There was no response, or one without a promise: either everything is recorded or nothing. */
  | { readonly kind: 'unknown'; readonly op: number }
  | { readonly kind: 'count'; readonly op: number; readonly project: ProjectId; readonly range: DateRange }
  | { readonly kind: 'counted'; readonly op: number; readonly counts: Counts }
  /** The block is not counted, and no recording of it is in progress. */
  | { readonly kind: 'absent'; readonly project: ProjectId; readonly block: number }
  /** Recorded in parts by a command that succeeded in the end. */
  | { readonly kind: 'imported'; readonly project: ProjectId; readonly blocks: readonly number[] }
  /** A correction of blocks begins: any of their queries may have this form. */
  | {
      readonly kind: 'correct' | 'corrected';
      readonly project: ProjectId;
      readonly blocks: readonly number[];
      /** After `corrected`, all of their queries have it. */
      readonly form: Form;
    }
  /** The counts of a range and of its adjacent parts while nothing was recorded. */
  | { readonly kind: 'tiled'; readonly whole: Counts; readonly parts: readonly Counts[] }
  /** The result of `verify` while nothing was recorded. */
  | { readonly kind: 'verified'; readonly queries: number; readonly problems: number };
