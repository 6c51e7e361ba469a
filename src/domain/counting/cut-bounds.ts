/** The imported spans that one bound of a range cuts. Times are local date-times with offset. */
interface CutBound {
  readonly start: string;
  readonly end: string;
  readonly count: number;
}

/** Null for a bound that cuts no span. */
export interface CutBounds {
  readonly dateFrom: CutBound | null;
  readonly dateTo: CutBound | null;
}
