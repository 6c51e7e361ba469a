/** Where the time comes from. Handed in everywhere, so that a test can say what time it is. */
export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  now(): number;
}
