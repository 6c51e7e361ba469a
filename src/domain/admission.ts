/** Decides when the server refuses a request because of its load, so that accepted requests finish in time. */

/**
 * The kind of a request. `probe` asks whether the server is alive and is never refused. `recording` is refused first,
 * because senders retry. `account` is a change through the dashboard, which may hash a password (32 MB and 0.1 s).
 * `reading` is everything else.
 */
export type RequestKind = 'probe' | 'recording' | 'account' | 'reading';

/** What the server handles at once. */
export interface LoadLimits {
  /** Recording requests, from their headers to the end of their responses. */
  readonly recordingsMax: number;
  /** Bytes received so far of all recording bodies, compressed and decompressed. */
  readonly recordingBytesMax: number;
  /** All other requests except probes. */
  readonly requestsMax: number;
  /** The part of those that are changes through the dashboard. */
  readonly accountRequestsMax: number;
  /** Mean event loop delay above which recordings are refused; reads tolerate `readDelayFactor` times as much. */
  readonly eventLoopDelayMsMax: number;
}

/** The current load, without the request being decided on. */
export interface Load {
  readonly recordings: number;
  readonly recordingBytes: number;
  readonly requests: number;
  readonly accountRequests: number;
  /** Mean over the last sample. */
  readonly eventLoopDelayMs: number;
}

/** Reads are few and people wait for them: while recordings cause the delay, refusing those lets the reads through. */
export const readDelayFactor = 4;

export const TOO_MANY_BYTES = 'Too many bytes are being received at once; send the request again.';

const BUSY = 'The server is too busy; try again.';

/** Why the server refuses one more request of this kind now, as a message for its sender; undefined if it accepts. */
export function refusalReason(kind: RequestKind, load: Load, limits: LoadLimits): string | undefined {
  if (kind === 'probe') return undefined;
  if (kind === 'recording') {
    if (load.eventLoopDelayMs > limits.eventLoopDelayMsMax) return BUSY;
    if (load.recordings >= limits.recordingsMax)
      return 'Too many recordings at once; send the request again.';
    if (load.recordingBytes >= limits.recordingBytesMax) return TOO_MANY_BYTES;
    return undefined;
  }
  if (load.eventLoopDelayMs > limits.eventLoopDelayMsMax * readDelayFactor) return BUSY;
  if (load.requests >= limits.requestsMax) return BUSY;
  if (kind === 'account' && load.accountRequests >= limits.accountRequestsMax) return BUSY;
  return undefined;
}
