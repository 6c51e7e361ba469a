/** Decides when the server refuses a request because of its load, so that accepted requests finish in time. */

/**
 * The kind of a request. `probe` asks whether the server is alive and is never refused. `recording` is refused first,
 * because senders retry. `reading` is everything else.
 */
export type RequestKind = 'probe' | 'recording' | 'reading';

/** The current load, without the request being decided on. */
export interface Load {
  /** Recording requests, from their headers to the end of their responses. */
  readonly recordings: number;
  /** Bytes received so far of all recording bodies, compressed and decompressed. */
  readonly recordingBytes: number;
  /** All other requests except probes. */
  readonly requests: number;
  /** Mean over the last sample. Reads tolerate `readDelayFactor` times the limit. */
  readonly eventLoopDelayMs: number;
}

/** The limit of each value of `Load`: `recordingsMax` and so on. */
export type LoadLimits = { readonly [Name in keyof Load as `${Name}Max`]: number };

/** Reads are few and people wait for them: while recordings cause the delay, refusing those lets the reads through. */
export const readDelayFactor = 4;

export const TOO_MANY_BYTES = 'Too many bytes are being received at once; send the request again.';

const BUSY = 'The server is too busy; try again.';

/** Why the server refuses one more request of this kind now, as a message for its sender; undefined if it accepts. */
export function refusalReason(kind: RequestKind, load: Load, limits: LoadLimits): string | undefined {
  switch (kind) {
    case 'probe':
      return undefined;
    case 'recording':
      if (load.eventLoopDelayMs > limits.eventLoopDelayMsMax) return BUSY;
      if (load.recordings >= limits.recordingsMax)
        return 'Too many recordings at once; send the request again.';
      return load.recordingBytes >= limits.recordingBytesMax ? TOO_MANY_BYTES : undefined;
    case 'reading':
      if (load.eventLoopDelayMs > limits.eventLoopDelayMsMax * readDelayFactor) return BUSY;
      return load.requests >= limits.requestsMax ? BUSY : undefined;
    default:
      return kind satisfies never;
  }
}
