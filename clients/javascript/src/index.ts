/** The public API. The middleware and the spool have their own entry points. */
export {
  type CallerRules,
  callerRulesProblems,
  type DetectableRequest,
  detectCaller,
  KNOWN_CALLERS,
  type KnownCaller,
} from '../../../src/domain/queries/caller-detection.js';
export {
  AuthenticationError,
  ConnectionError,
  InvalidRequestError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  RequestError as CallerStatsError,
  ServerError,
} from '../../../src/shared/api-client.js';
export type { CallerStats, CallerStatsSeries, Callers } from './counts.js';
export type { Platform } from './platform.js';
export type { Query, QueuedQuery } from './query.js';
export {
  createReader,
  type RangeRequest,
  type Reader,
  type ReaderOptions,
  type SeriesRequest,
} from './reader.js';
export { createRecorder } from './recorder.js';
export type {
  DropReason,
  FlushOptions,
  Recorder,
  RecorderOptions,
  RecorderStats,
  Spool,
} from './recorder-options.js';
