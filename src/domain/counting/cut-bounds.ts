/** Imported spans that something cuts. Times are local date-times with offset. */
interface CutSpans {
  readonly start: string;
  readonly end: string;
  readonly count: number;
}

/** Null for a bound that cuts no span. */
export interface CutBounds {
  readonly dateFrom: CutSpans | null;
  readonly dateTo: CutSpans | null;
  /** Those that begin in one bucket and end in a later one. */
  readonly buckets: CutSpans | null;
}
