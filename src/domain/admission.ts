/** When a server refuses work, so that what it has taken on is finished in time. */

/**
 * What a request asks of the server. `probe`: whether it lives, asked by whatever restarts it, and never refused.
 * `recording`: refused first, because its senders repeat it. `account`: a change by way of the dashboard, which may hash
 * a password, at 32 megabytes and a tenth of a second each. `reading`: everything else.
 */
export type RequestKind = 'probe' | 'recording' | 'account' | 'reading';

/** What may be under way at once. */
export interface LoadLimits {
  /** Recording requests, from their headers to the end of their answers. */
  readonly recordingsMax: number;
  /** Bytes of bodies of recording requests, as far as they have come, packed and unpacked. */
  readonly recordingBytesMax: number;
  /** All other requests but probes. */
  readonly requestsMax: number;
  /** Of those, changes by way of the dashboard. */
  readonly accountRequestsMax: number;
  /** Mean delay of the event loop from which on recordings are refused; reads are at `readDelayFactor` times as much. */
  readonly eventLoopDelayMsMax: number;
}

/** What is under way, without the request that is decided on. */
export interface Load {
  readonly recordings: number;
  readonly recordingBytes: number;
  readonly requests: number;
  readonly accountRequests: number;
  /** Mean over the last look. */
  readonly eventLoopDelayMs: number;
}

/** Reads are few and people wait for them: where recording is what holds the loop up, refusing it lets them through. */
export const readDelayFactor = 4;

/** Why one more request for such work is refused now, in words for whoever sent it; undefined where it is taken on. */
export function refusalReason(work: RequestKind, load: Load, limits: LoadLimits): string | undefined {
  if (work === 'probe') return undefined;
  if (work === 'recording') {
    if (load.eventLoopDelayMs > limits.eventLoopDelayMsMax) return BUSY;
    if (load.recordings >= limits.recordingsMax) return 'Too many recordings are under way; send it again.';
    if (load.recordingBytes >= limits.recordingBytesMax) return TOO_MANY_BYTES;
    return undefined;
  }
  if (load.eventLoopDelayMs > limits.eventLoopDelayMsMax * readDelayFactor) return BUSY;
  if (load.requests >= limits.requestsMax) return BUSY;
  if (work === 'account' && load.accountRequests >= limits.accountRequestsMax) return BUSY;
  return undefined;
}

export const TOO_MANY_BYTES = 'Too much is being received at once; send it again.';

const BUSY = 'The server has too much to do; try again.';
