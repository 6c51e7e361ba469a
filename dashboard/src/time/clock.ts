/** The current time. The dashboard reads the clock only here. */

export function now(): number {
  return Date.now();
}
