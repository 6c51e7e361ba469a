/** Where the time comes from. Functions take the clock as an argument, so that tests can set the time. */
export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  now(): number;
}
