const intervalMs = 10_000;

/** A log that takes warnings. */
export interface WarningLog {
  warn(fields: object, message: string): void;
}

/**
 * Returns a function that logs a warning which could occur with every request: at most one line in ten seconds, with the
 * number of warnings left out since the last one.
 */
export function createThrottledWarning(clock: { now(): number }) {
  let writtenAt: number | undefined;
  let unwritten = 0;
  return (log: WarningLog, fields: object, message: string): void => {
    const now = clock.now();
    // A clock that was set back must not silence the warning.
    if (writtenAt !== undefined && Math.abs(now - writtenAt) < intervalMs) {
      unwritten++;
      return;
    }
    log.warn({ ...fields, unwritten }, message);
    writtenAt = now;
    unwritten = 0;
  };
}
