/** The settings of what a server takes on at once, and how long anything may take. */
import {
  answerTimeoutMs,
  connectionsMax,
  eventLoopDelayMsMax,
  recordingBytesMax,
  recordingsMax,
  requestsMax,
  requestTimeoutMs,
} from '../../domain/limits.js';
import { hourMs } from '../../domain/time/duration.js';
import { integer, setting } from './setting.js';

export const OVERLOAD_SETTINGS = {
  connectionsMax: setting({
    flag: 'connections-max',
    environment: 'CALLER_STATS_CONNECTIONS_MAX',
    fallback: String(connectionsMax),
    placeholder: 'number',
    description: 'open connections, at most; more are closed at once',
    parse: integer(1, 1_000_000),
  }),
  requestsMax: setting({
    flag: 'requests-max',
    environment: 'CALLER_STATS_REQUESTS_MAX',
    fallback: String(requestsMax),
    placeholder: 'number',
    description: 'requests being answered at once, but for recordings and probes, at most',
    parse: integer(1, 1_000_000),
  }),
  recordingsMax: setting({
    flag: 'recordings-max',
    environment: 'CALLER_STATS_RECORDINGS_MAX',
    fallback: String(recordingsMax),
    placeholder: 'number',
    description: 'recording requests under way at once, at most',
    parse: integer(1, 1_000_000),
  }),
  recordingBytesMax: setting({
    flag: 'recording-bytes-max',
    environment: 'CALLER_STATS_RECORDING_BYTES_MAX',
    fallback: String(recordingBytesMax),
    placeholder: 'bytes',
    description: 'bytes of recording requests in memory at once, at most; as much as one may have, at least',
    parse: integer(1024, 64 * 1024 ** 3),
  }),
  eventLoopDelayMsMax: setting({
    flag: 'event-loop-delay-max-ms',
    environment: 'CALLER_STATS_EVENT_LOOP_DELAY_MAX_MS',
    fallback: String(eventLoopDelayMsMax),
    placeholder: 'milliseconds',
    description:
      'mean delay of the event loop from which on recordings are refused, and reads at four times as much',
    parse: integer(10, 600_000),
  }),
  requestTimeoutMs: setting({
    flag: 'request-timeout-ms',
    environment: 'CALLER_STATS_REQUEST_TIMEOUT_MS',
    fallback: String(requestTimeoutMs),
    placeholder: 'milliseconds',
    description: 'how long a request may take to arrive',
    parse: integer(100, hourMs),
  }),
  answerTimeoutMs: setting({
    flag: 'answer-timeout-ms',
    environment: 'CALLER_STATS_ANSWER_TIMEOUT_MS',
    fallback: String(answerTimeoutMs),
    placeholder: 'milliseconds',
    description: 'how long an answer may take to be made, and again to be taken',
    parse: integer(100, hourMs),
  }),
};
