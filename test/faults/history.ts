/** What happened between clients and servers, in order: what the checker judges by, and all that it knows. */
import type { Counts } from '../../src/domain/counting/counts.js';
import type { DateRange } from '../../src/domain/counting/date-range.js';
import type { RecordResult } from '../../src/storage/ports/store.js';
import type { ProjectId } from './blocks.js';

/** An operation begins with `record` or `count`, and ends with one entry of the same number, or never. */
export type Entry =
  | {
      readonly kind: 'record';
      readonly op: number;
      readonly project: ProjectId;
      readonly blocks: readonly number[];
    }
  | { readonly kind: 'recorded'; readonly op: number; readonly result: RecordResult }
  /** Refused in a way that promises that nothing was recorded. */
  | { readonly kind: 'refused'; readonly op: number }
  /** No answer, or one that promises nothing: all of it is recorded, or nothing. */
  | { readonly kind: 'unknown'; readonly op: number }
  | { readonly kind: 'count'; readonly op: number; readonly project: ProjectId; readonly range: DateRange }
  | { readonly kind: 'counted'; readonly op: number; readonly counts: Counts }
  /** Seen not to be there when nothing was under way that could still bring it. */
  | { readonly kind: 'absent'; readonly project: ProjectId; readonly block: number }
  /** Recorded in pieces of any size, by a command that was acknowledged in the end. */
  | { readonly kind: 'imported'; readonly project: ProjectId; readonly blocks: readonly number[] }
  /** One range, and adjacent ones that it is made of, asked for while nothing was recorded. */
  | { readonly kind: 'tiled'; readonly whole: Counts; readonly parts: readonly Counts[] }
  /** What `verify` found while nothing was recorded. */
  | { readonly kind: 'verified'; readonly queries: number; readonly problems: number };
