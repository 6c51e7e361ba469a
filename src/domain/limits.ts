/**
 * Every bound the service sets on its input and on itself, each with its reason.
 * Those that say so are defaults of settings; the others are fixed.
 */
import { dayMs, minuteMs, secondMs } from './time/duration.js';

/** Queries in one recording request (a setting). A batch of this size holds the writer for well under a second. */
export const batchQueriesMax = 10_000;

/** Bytes of one recording request's body (a setting), counted after decompression, so that a gzip bomb stays small. */
export const bodyBytesMax = 10 * 1024 * 1024;

/** Characters (Unicode code points) of a query's id: room for a UUID, a ULID, or a host's own composite. */
export const queryIdCharactersMax = 128;

/** Characters of a caller's name. */
export const callerCharactersMax = 64;

/** How far ahead of the server's clock a query may lie. A day forgives any clock set to a wrong zone. */
export const occurredAtAheadMsMax = dayMs;

/** Characters of a project's id. It stands in URLs. */
export const projectIdCharactersMax = 64;

/** Characters of the name of a project or a key. */
export const nameCharactersMax = 100;

/** Longest life of a key that has an end, in days: ten years. A longer one is `never`, said plainly. */
export const keyLifeDaysMax = 3_650;

/**
 * Requests of one address that fail to authenticate, in a minute (a setting). Nobody guesses a key at any rate; this
 * keeps whoever tries from costing much, and forgives a deployment with an old key.
 */
export const failuresPerMinute = 600;

/** Longest grace period of a rotated key, in days: two keys for one purpose are for a change, not for ever. */
export const keyGraceDaysMax = 30;

/** Addresses and networks in a key's allowlist. With the widest that are taken, these do not cover everything. */
export const keyNetworksMax = 50;

/** Characters of an e-mail address (RFC 5321, section 4.5.3.1, as corrected). */
export const emailCharactersMax = 254;

/** Characters of a password: what OWASP and NIST ask of one that may stand alone, and as many as a library hashes. */
export const passwordCharactersMin = 12;
export const passwordCharactersMax = 128;

/** Failed sign-ins of one user from browsers that are not known, or of one that is, in `guessWindowSeconds`. */
export const guessesMax = 10;

/** Failed sign-ins from one address, of whatever users: an office has more people than one. */
export const addressFailuresMax = 100;

/** Seconds after which failed sign-ins are forgotten. */
export const guessWindowSeconds = (15 * minuteMs) / secondMs;

/** Seconds that a browser which signed in is known: a year. */
export const deviceCookieSeconds = (365 * dayMs) / secondMs;

/** Bytes of the body of a request of the dashboard. */
export const dashboardBodyBytesMax = 16 * 1024;

/** Characters of the secret that signs sessions: 128 random bits in hexadecimal digits. */
export const secretCharactersMin = 32;

/** Seconds that a session lasts without being used: a week, counted anew each day that it is. */
export const sessionSecondsMax = (7 * dayMs) / secondMs;

/** Days that an invitation, or a set-up address, can be used. */
export const invitationDaysMax = 7;

/** Entries of the audit log in one answer. */
export const auditEntriesMax = 1000;

/** Buckets of one series: over a year of hours, and about a megabyte to answer. */
export const seriesBucketsMax = 10_000;

/** Longest time, in days, that the rows of a project's queries are kept where it has an end: a century. Longer is for ever. */
export const retentionDaysMax = 36_500;

/** Rows that one step of removing deleted projects and old queries looks at: recording waits for no more than these. */
export const cleanupRowsMax = 2_000;

/** Milliseconds between two looks of a server for deleted projects and old queries to remove. */
export const cleanupIntervalMs = 10_000;

/** Bytes of a request's headers together. Node's own default, set so that an upgrade cannot move it. */
export const headerBytesMax = 16 * 1024;

/** Milliseconds a client has to send its whole request (a setting), so that a stalled one cannot hold a connection. */
export const requestTimeoutMs = minuteMs;

/** Milliseconds a client has to send its headers. */
export const headersTimeoutMs = 10_000;

/** Milliseconds that an answer may take to be made once its request could be here, and again to be read (a setting). */
export const answerTimeoutMs = 30_000;

/** Milliseconds between two looks for requests that take too long. Node's own half a minute would double the times above. */
export const lateRequestsIntervalMs = 2_000;

/** Milliseconds that requests which have not come whole, and answers that nobody reads, have left when the server stops. */
export const closeGraceMs = 2_000;

/** Open connections (a setting): an idle one takes about 20 KB, and file descriptors are finite. */
export const connectionsMax = 10_000;

/** Requests being answered at once, but for recordings and probes (a setting). */
export const requestsMax = 1_000;

/** Of those, changes by way of the dashboard: a password's hash takes 32 MB and a tenth of a second of one of four threads. */
export const accountRequestsMax = 32;

/** Recording requests under way at once (a setting): enough to share commits well, few enough to be answered soon. */
export const recordingsMax = 1_000;

/** Bytes of bodies of recording requests at once (a setting). Parsed, they take several times as much memory. */
export const recordingBytesMax = 64 * 1024 * 1024;

/** Mean delay of the event loop, in milliseconds, from which on recordings are refused (a setting). */
export const eventLoopDelayMsMax = 1_000;

/** Levels of a JSON value, arrays and objects in each other. What is sent has five at most. */
export const jsonLevelsMax = 64;

/**
 * Brackets, commas and colons of a long JSON body, where the setting of its queries does not ask for more: millions would
 * hold up everybody else for seconds. 10,000 queries have 70,000, an attribute of OTLP has seven.
 */
export const jsonPartsMax = 500_000;

/** The same of one query, with room for fields that it should not have. */
export const queryPartsMax = 10;

/** Bytes of a line of NDJSON in a request: a query's longest form has a few thousand. */
export const bodyLineBytesMax = 64 * 1024;

/**
 * Parts of one OTLP request in protobuf that are stepped through: fields, of which an attribute has four, and ten for each
 * record that is looked at. A batch of 8,192 spans with 20 attributes each has 750,000.
 */
export const otlpPartsMax = 1_000_000;

/** Bytes of JSON from which on its levels and parts are counted before it is parsed. What is shorter takes 0.1 s, however deep. */
export const jsonLevelsCountedBytesMin = 1024 * 1024;

/** Milliseconds an idle connection is kept. Longer than the 60 s of common proxies, so that they close first. */
export const keepAliveTimeoutMs = 72_000;

/** Milliseconds that stopping may take before the process gives up waiting and exits with 1. */
export const shutdownTimeoutMs = 30_000;

/** Processes of one server, at most. */
export const workersMax = 64;

/** Between the end of a worker and the start of another in its place. */
export const workerRestartMs = 1_000;

/** What a worker has not told the first process by then is left out of the metrics. */
export const workerAnswerMs = 2_000;

/** Seconds that `Retry-After` names when the server sheds load or its store is away. */
export const retryAfterSeconds = 1;

/** Queries waiting to be committed, over all requests; past it recording is refused with 503. */
export const pendingQueriesMax = 200_000;

/** Operations waiting to be committed (a request is one, whatever its size). */
export const pendingOperationsMax = 20_000;

/** Queries in one commit: what waits behind it waits at most for this many rows. */
export const commitQueriesMax = 20_000;

/** Bytes of one line of an import file. The longest valid line is far shorter. */
export const importLineBytesMax = 64 * 1024;

/** Lines of a log that are remembered to tell identical ones apart: far more than one second of queries has. */
export const identicalLinesKept = 100_000;

/** A key's last use is written at most this often: the listing is for people, a write for each read is not. */
export const lastUsedIntervalMs = minuteMs;

/** Connections of one node to a database server (a setting): ten nodes fit PostgreSQL's usual hundred. */
export const databaseConnectionsMax = 10;

/** Milliseconds until a read or write that a database server does not answer is given up (a setting). */
export const databaseTimeoutMs = 5_000;

/** Buckets that a tool of `mcp` hands out at once: a model has to read every one of them. */
export const toolBucketsMax = 1_000;

/** The sign-in library locks the second factor for this long after ten wrong codes in a row. */
export const codeLockSeconds = 15 * 60;
