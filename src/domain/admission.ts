/** Decides when the server refuses a request because of its load, so that accepted requests finish in time. */

/**
 * The kind of a request. `probe` asks whether the server is alive and is never refused. `recording` is refused first,
 * because senders retry. `visiting` reads a share link, which anybody may do: it is refused at half of the load at which
 * `reading` is, which is everything else.
 */
export type RequestKind = 'probe' | 'recording' | 'visiting' | 'reading';

/** The current load, without the request being decided on. */
export interface Load {
  /** Recording requests, from their headers to the end of their responses. */
  readonly recordings: number;
  /** Bytes received so far of all recording bodies, compressed and decompressed, and of what they are parsed to. */
  readonly recordingBytes: number;
  /** Bytes received so far of all corrections. */
  readonly correctionsBytes: number;
  /** All other requests except probes. */
  readonly requests: number;
  /** Bytes of large answers that clients have not read yet. */
  readonly unreadBytes: number;
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
    case 'visiting':
    case 'reading':
      if (load.eventLoopDelayMs > limits.eventLoopDelayMsMax * readDelayFactor * SHARE[kind]) return BUSY;
      if (load.requests >= limits.requestsMax * SHARE[kind]) return BUSY;
      return load.unreadBytes >= limits.unreadBytesMax * SHARE[kind] ? TOO_MANY_ANSWERS : undefined;
    default:
      return kind satisfies never;
  }
}

const SHARE = { visiting: 1 / 2, reading: 1 };

export const TOO_MANY_ANSWERS = 'Too many large answers are waiting to be read; try again.';

/** Whether there is room for one more large answer to a request that was accepted. There always is for the only one. */
export function hasRoomFor(
  bytes: number,
  kind: 'visiting' | 'reading',
  { unreadBytes }: Pick<Load, 'unreadBytes'>,
  { unreadBytesMax }: Pick<LoadLimits, 'unreadBytesMax'>,
): boolean {
  return unreadBytes === 0 || unreadBytes + bytes <= unreadBytesMax * SHARE[kind];
}
