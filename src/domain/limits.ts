/** Every limit of the service, with its reason. A limit marked "(setting)" is the default of a setting; the others are fixed. */
import { dayMs, hourMs, minuteMs, secondMs } from './time/duration.js';

// Recorded queries.

/** Queries in one recording request (setting). The writer handles a batch of this size in well under a second. */
export const batchQueriesMax = 10_000;
/** Bytes of a recording request's body after decompression (setting). Counting decompressed bytes stops gzip bombs. */
export const bodyBytesMax = 10 * 1024 * 1024;
/** Unicode code points in a query's id: enough for a UUID, a ULID or a composite id. */
export const queryIdCharactersMax = 128;
/** Characters in a caller's name: enough for the name of any integration or SDK. */
export const callerCharactersMax = 64;
/** How far ahead of the server's clock `occurredAt` may be. A day tolerates a clock set to the wrong time zone. */
export const occurredAtAheadMsMax = dayMs;
/** The first time of which a query is likely to be. Times in another unit, and those of clocks that were never set, lie in 1970. */
export const likelyTimeMsMin = Date.UTC(2000, 0);
/** Bytes of one line of NDJSON in a request. The longest valid query takes a few thousand. */
export const lineBytesMax = 64 * 1024;
/** Bytes of one record of an import file. Other systems' exports contain whole questions and answers. */
export const importRecordBytesMax = 1024 * 1024;
/** Bytes of one line of an OTLP file: a batch of 8,192 spans with prompts of some kilobytes. */
export const otlpLineBytesMax = 64 * 1024 * 1024;
/** Bad records that an import names, so that a wrong file does not fill the terminal. All of them are counted. */
export const badRecordsNamedMax = 20;

/** Lines of an error that a command prints: more than there are settings, so that all wrong ones are named. */
export const errorLinesMax = 100;
/** Distinct log lines remembered to tell identical ones apart: far more than the queries of one second. */
export const identicalLinesKept = 100_000;

// Imported counts.

/** Counts in one request. They are written in one transaction, for which recordings of their project wait: a tenth of a second. */
export const importedCountsMax = 500;
/** Queries of one imported count. The sum of millions of such counts is still an exact number. */
export const importedCountMax = 1_000_000_000;
/** Days in the span of one imported count: enough for a leap year in any time zone. */
export const importedSpanDaysMax = 367;
/** Characters in the name of the source of imported counts: enough for the URL of a project. */
export const importedSourceCharactersMax = 200;

// Corrections.

/** Ids in one correction: as many as queries in a request. The correction keeps them. */
export const correctionIdsMax = 10_000;
/** Bytes of a correction's request: room for so many of the longest ids. */
export const correctionBytesMax = 6 * 1024 * 1024;
/** Brackets, commas and colons of it. */
export const correctionPartsMax = 2 * correctionIdsMax;
/**
 * Corrections of one project, without undos. Reading the past needs all of them, and one query may have been changed by each.
 */
export const correctionsMax = 20_000;
/** Corrections in one answer. */
export const correctionsListedMax = 100;
/** How long a request waits for its correction. What takes longer is carried out in the background. */
export const correctionWaitMs = 2_000;
/** Characters in the reason of a correction: a few sentences. */
export const correctionReasonCharactersMax = 500;
/** Callers in the figures of a correction, which each of its steps writes. */
export const correctionCallersMax = 1_000;
/** Queries that one step of a correction changes at most: recording waits for one step at most. */
export const correctionStepQueriesMax = 1_000;
/** Corrections that one step of an undo reads at most, unless one query has more. */
export const undoStepCorrectionsMax = 50_000;
/** Among how many times as many queries a step looks for those to change: reading one takes so much less than changing it. */
export const correctionRowsPerQuery = 20;

// Changes of counts, and counts as of an earlier day.

/** Queries that one step of reading the past looks at: some 20 ms of the event loop if each is of another caller. */
export const pastStepQueries = 1_000;
/** A page of queries or imported counts ends after this many of their corrections. */
export const pageCorrectionsMax = 2_000;
/** Imported counts of one such step. */
export const pastStepCounts = 1_000;
/** Changes in one answer: the largest. The others are summed. */
export const changesListedMax = 1_000;

// Projects and keys.

/** Projects of one organization. Pages and tools list all of them. */
export const projectsMax = 2_000;
/** Keys of one organization that are not revoked. */
export const keysMax = 2_000;
/** Revoked keys of one organization that are kept when it gets a new key: names for the audit log and the sources. */
export const revokedKeysMax = 1_000;
/** Characters in a project's id, which appears in URLs. */
export const projectIdCharactersMax = 64;
/** Characters in the name of a project or key, so that lists stay readable. */
export const nameCharactersMax = 100;
/** A key that may record and is in use is announced when it expires within this time. */
export const keyNoticeDays = 30;
/** A key is in use if it was used within this time. */
export const keyUseDays = 30;
/** Keys that a report, a digest or a metric announces: those that expire first. */
export const keyNoticesMax = 100;
/** Longest life of a key that expires: ten years. For longer, use `never`. */
export const keyLifeDaysMax = 3_650;
/** Longest grace period of a rotated key: two keys for one purpose should not stay forever. */
export const keyGraceDaysMax = 30;
/** Networks in a key's allowlist. Even this many of the widest allowed networks do not cover every address. */
export const keyNetworksMax = 50;
/** A key's last use is written at most this often, because a write for every read would cost too much. */
export const lastUsedIntervalMs = minuteMs;
/** Longest retention of a project's query rows: a century. For longer, keep them forever. */
export const retentionDaysMax = 36_500;
/** Characters in a project's text of an OpenTelemetry setting: dozens of routes or origins. Every key look-up reads them. */
export const telemetryTextCharactersMax = 1_000;
/** Rows examined by one step of removing deleted projects and old queries. Recording waits for one step at most. */
export const cleanupRowsMax = 2_000;
/** Pause between a server's checks for deleted projects and old queries. */
export const cleanupIntervalMs = 10_000;
/** A smaller difference between the clock and a monotonic one is a correction, a larger one a jump. */
export const clockJumpMsMin = 5 * minuteMs;
/** How long a clock keeps a new time until jobs that remove data or send messages believe it. */
export const clockTrustedMs = hourMs;
/** If the clock of a starting server is further ahead of everything in its database, these jobs wait as after a jump. */
export const clockUnseenMsMax = 7 * dayMs;
/** Pause between a server's looks at the servers of a cluster. */
export const serverWatchIntervalMs = 10_000;

// People and sessions.

/** Characters in an e-mail address (RFC 5321, section 4.5.3.1, as corrected). */
export const emailCharactersMax = 254;
/** Members and invitations of one organization together. */
export const membersMax = 2_000;
/** Projects of one reader. */
export const readerProjectsMax = 100;
/** Shortest password. OWASP ASVS requires 8 characters, and recommends more. */
export const passwordCharactersMin = 12;
/** Longest password: the maximum that the sign-in library hashes. */
export const passwordCharactersMax = 128;
/** Failed sign-ins of one user within `guessWindowSeconds`, from one known browser or from all unknown ones. */
export const guessesMax = 10;
/** Failed sign-ins from one address within `guessWindowSeconds`: an office shares one address among many people. */
export const addressFailuresMax = 100;
/** How often the limit of an address applies to a /48 of IPv6, which a whole site has, and an attacker easily. */
export const wideNetworkFactor = 10;
/** Time after which failed sign-ins no longer count: long enough to make guessing pointless, short enough to wait. */
export const guessWindowSeconds = (15 * minuteMs) / secondMs;
/** Time after which wrong codes of a second factor no longer count; `guessesMax` of them are allowed. */
export const codeLockSeconds = (15 * minuteMs) / secondMs;
/** How long the provider of single sign-on may take to tell who a user is. */
export const providerTimeoutMs = 10_000;
/** How long the second step of signing in may take: a phone may have to be fetched. */
export const secondStepSeconds = (10 * minuteMs) / secondMs;
/** Backup codes of one user, for the days without the authenticator app. */
export const backupCodesCount = 10;
/** How long a trusted device needs no second factor; each sign-in begins it anew. */
export const trustSeconds = (30 * dayMs) / secondMs;
/** How long a connected application reads with one token, and keeps the connection without use. A person can end it at any time. */
export const applicationAccessSeconds = hourMs / secondMs;
export const applicationLifeSeconds = (90 * dayMs) / secondMs;
/** After which a person must connect an application again, however much it is used (OWASP ASVS 5.0, 10.4.8). */
export const applicationConnectionSeconds = (365 * dayMs) / secondMs;
/** How long an application may take to exchange its code, which passed through the browser. */
export const applicationCodeSeconds = minuteMs / secondMs;
/** How long a renewed token works on: its answer may have been lost, or several windows renew it at once. */
export const applicationGraceSeconds = minuteMs / secondMs;
/** Addresses that an application may return people to, and their length: its id, which is in URLs, names them. */
export const redirectUrisMax = 10;
export const redirectUriCharactersMax = 1000;
/** How long a browser may take to answer with a passkey. Browsers themselves give up after five minutes or earlier. */
export const passkeyChallengeSeconds = (5 * minuteMs) / secondMs;
/** How long after signing in a user without a password may change second factors. Others type their password. */
export const freshSessionSeconds = (10 * minuteMs) / secondMs;
/** Sessions, trusted devices and connections of applications that one person has of each: more than anybody uses. Those used longest ago end. */
export const openingsMax = 100;
/** Passkeys of one user: more than anybody has devices. */
export const passkeysMax = 20;
/** Concurrent sign-ins from browsers that have signed in before, and other checks of passwords of known people. A hash takes
 * 0.3 s on their thread, so the last one waits for ten seconds. */
export const knownSignInsMax = 32;
/** The part of them that one user may have, so that no member keeps the others out. */
export const userSignInsMax = 8;
/** Concurrent sign-ins from other browsers. Further ones are refused, because a password guesser would fill any queue. */
export const strangerSignInsMax = 8;
/** The part of them that one network may have: an address of IPv4, or a /48 of IPv6. */
export const networkSignInsMax = 4;
/** An answer of a server to a command. The largest of a server has the counts of 50,000 callers: 8 MB. */
export const answerBytesMax = 64 * 1024 * 1024;
/** Refused sign-ins that wait before they are answered, so that clients that repeat them immediately cost little. */
export const refusedSignInsMax = 64;
/** Projects with an id that is not free which an organization may try to create within an hour: ids are unique across
 * organizations, so each attempt tells that somebody has the id. */
export const takenIdsMax = 20;
export const takenIdsWindowSeconds = hourMs / secondMs;
/** How long a thread that hashes passwords stays without any. */
export const hashingIdleMs = 10_000;
/** How long a browser that has signed in stays known. */
export const deviceCookieSeconds = (365 * dayMs) / secondMs;
/** How long an unused session lasts; each day of use renews it. */
export const sessionSecondsMax = (7 * dayMs) / secondMs;
/** Time after which the use of a session moves its end: not each request writes it. */
export const sessionUpdateSeconds = dayMs / secondMs;
/** How long a session lasts at most, however often it is used. */
export const sessionLifeSecondsMax = (30 * dayMs) / secondMs;
/** Characters in the secret that signs sessions: 128 random bits in hexadecimal. */
export const secretCharactersMin = 32;
/** How long a link works that sets a new password. */
export const resetLinkSeconds = (60 * minuteMs) / secondMs;
/** Links that one person is mailed within `resetLinkSeconds` as soon as they are asked for. Each works until that has passed. */
export const resetMailsMax = 5;
/** After so long without one, the person is mailed one more. So strangers who ask for links cannot fill a mailbox, and whoever asks has a
 * link that still works for long, or gets one. */
export const resetMailAgainSeconds = resetLinkSeconds / resetMailsMax;
/** Such links that visitors of one address may ask for within `resetLinkSeconds`, for whomever. */
export const resetRequestsMax = 20;
/** The longest time until the account of such a request is looked for: what the server does then must not tell who has one. */
export const resetDelayMsMax = 5_000;
/** Requests for such links whose account one process looks for at a time, and such mails that it sends at a time. */
export const resetRequestsWaitingMax = 100;
/** Share links of one project: more than anybody has uses for. */
export const shareLinksMax = 50;
/** Origins that one share link may be embedded on. They are in a header of each response. */
export const shareOriginsMax = 10;
/** Wrong passwords of one share link within `guessWindowSeconds`, from all addresses together: many people have the link. */
export const shareGuessesMax = 100;
/** How long an open page of a share link needs no password again. */
export const shareTicketSeconds = (12 * hourMs) / secondMs;
/** How long an invitation or set-up link works. */
export const invitationDaysMax = 7;
/** Bytes of a dashboard request's body, which is always a small form. */
export const dashboardBodyBytesMax = 16 * 1024;
/** Audit log entries in one response; clients page through the rest. */
export const auditEntriesMax = 1000;

// Responses.

/** Buckets of one series: over a year of hours, which makes about a megabyte. */
export const seriesBucketsMax = 10_000;
/** Buckets of a series by caller, each of which has a number for each caller. */
export const seriesByCallerBucketsMax = 1_000;
/** Bars of the dashboard's chart: the most that can be told apart on a wide screen. */
export const barsMax = 750;
/** Series and lists of callers that are made at a time; and as many reports about the past. */
export const reportsMax = 4;
/** Lists of an organization's keys, people or projects that are read at a time. */
export const listsMax = 2;
/** The same for readers of share links, all together. */
export const sharedReportsMax = 1;
/** Reports about the past that are made at a time for one organization. */
export const pastReportsMax = reportsMax / 2;
/** Reports of each kind that wait for one organization; more are refused with 503. */
export const waitingReportsMax = 50;
/** How long they wait, then 503: a report that began later would miss its deadline. */
export const reportWaitMsMax = 10_000;
/** Characters of a response from which on it is compressed: less fits into one packet anyway. */
export const compressedCharactersMin = 1_400;
/** Requests with one share link from one address in a minute, unless organizations have a limit, which it is then. */
export const sharedRequestsPerMinute = 600;
/** Callers that the dashboard and a tool for AI assistants name; the rest are one. The operation `callers` and its CSV have all. */
export const callersShownMax = 100;
/** Projects in the overview of all projects. */
export const summarizedProjectsMax = 100;
/** Callers with a series of their own: more than a chart has colors for. All others are counted together. */
export const seriesCallersMax = 20;
/** The body of a call of a tool over HTTP, which names the tool and its few arguments. */
export const toolBodyBytesMax = 64 * 1024;
/** Messages in one batch to `/mcp`: revision 2025-03-26 of the protocol has batches, and hardly any client sends one. */
export const toolBatchMax = 10;
/** Buckets of a series of an MCP tool, because a model has to read every one of them. */
export const toolBucketsMax = 1_000;
/** The answer of an MCP tool in tokens, unless more rows are asked for: clients stop at some 25,000. */
export const toolTokensMax = 10_000;
/** Rows that an MCP tool answers at most, however many are asked for: some 20,000 tokens. */
export const toolRowsMax = 1_000;
/** Projects that an MCP tool lists unless more are asked for: with the longest names, as many as fit. */
export const projectsShownMax = 50;

/** Unknown parameters or fields that an error names: finding the known name that one resembles takes microseconds. */
export const unknownNamesMax = 100;
/** The same of one item of a list. */
export const unknownItemNamesMax = 5;
/** Messages in the `details` of one error: more than anybody reads. A last one says how many were left out. */
export const detailsMax = 1_000;
/** Bytes of these messages, which quote what was sent. */
export const detailBytesMax = 128 * 1024;

// HTTP connections.

/** Bytes of a request's headers: Node's own default, repeated here so that an upgrade cannot change it. */
export const headerBytesMax = 16 * 1024;
/** Time for a client to send its whole request, so that a stalled client cannot hold a connection. */
export const requestTimeoutMs = minuteMs;
/** Time for a client to send its headers, for the same reason. */
export const headersTimeoutMs = 10_000;
/** Time to produce a response once the request could have arrived, and again for the client to read it. */
export const answerTimeoutMs = 30_000;
/** Pause between checks for late requests. Node's default of 30 s would double the timeouts above. */
export const lateRequestsIntervalMs = 2_000;
/** Time that incomplete requests and unread responses have left when the server stops. */
export const closeGraceMs = 2_000;
/** Bytes of a rejected body that are read and dropped so that the connection stays open. Larger ones cost more than it. */
export const unreadBodyBytesMax = 1024 * 1024;
/** Bytes read and dropped after the response, before the connection closes: some clients read it only after sending all. */
export const lingeringBytesMax = 256 * 1024 * 1024;
/** Connections that close this way at a time. Each takes up to 64 KB; others are closed at once. */
export const lingeringConnectionsMax = 256;
/** Bytes of all connections that wait to be parsed: what a thousand connections have when each sends as much as it can at once. */
export const unparsedBytesMax = 64 * 1024 * 1024;
/** Open connections: an idle one takes about 20 KB, and file descriptors are limited. */
export const connectionsMax = 10_000;
/** How long an idle connection stays open: longer than the 60 s of common proxies, so that they close first. */
export const keepAliveTimeoutMs = 72_000;
/** Calls of gRPC at a time on one connection: as many as a Collector sends by default (`num_consumers`). Clients queue further calls. */
export const callsPerConnectionMax = 10;
/** Calls of gRPC that all connections share: a new one may have its part, and at least one. Collecting the garbage of 20,000 calls took 110 ms. */
export const callsMax = 2_000;
/** Bytes that a client may send ahead, of a call and of a connection. With the 64 KB of HTTP/2, a call of 2 MB takes 40% longer; more than this takes more memory. */
export const callWindowBytes = 128 * 1024;
/** Time that stopping may take before the process exits with 1. */
export const shutdownTimeoutMs = 30_000;
/** The `Retry-After` of responses sent while the server sheds load or the store is unavailable. */
export const retryAfterSeconds = 1;
/** Failed authentications per address and minute (setting): limits the cost of guessing, tolerates an outdated key. */
export const failuresPerMinute = 600;

// Admission.

/** Concurrent requests, recordings and probes not included. */
export const requestsMax = 1_000;
/** Bytes of large answers that clients have not read yet; half of them, and of the requests, for readers of share links. */
export const unreadBytesMax = 64 * 1024 * 1024;
/** Smaller answers are not counted: a thousand of them are 64 megabytes. */
export const largeAnswerBytesMin = 64 * 1024;
/** Concurrent recording requests: enough to share commits well, few enough to finish soon. */
export const recordingsMax = 1_000;
/** Bytes of all recording bodies in memory, and of what they are parsed to. */
export const recordingBytesMax = 64 * 1024 * 1024;
/** Bytes of all bodies of corrections in memory: five of the largest. Parsed, each takes 640 kB more at most. */
export const correctionsBytesMax = 32 * 1024 * 1024;
/** Recording bodies that are decompressed at a time, before the memory that they take is known. */
export const inflationsMax = 4;
/** Mean event loop delay above which the server refuses recordings. */
export const eventLoopDelayMsMax = 1_000;

/** Window of a zstd body: what a decoder keeps in memory. All that decoders have to support (RFC 8878). */
export const zstdWindowBytesMax = 8 * 1024 * 1024;
/** Zstd bodies that are decoded at a time, each with such a window, once they have arrived. */
export const zstdDecodersMax = 4;

// JSON and OTLP, whose parsing would otherwise block the event loop for seconds.

/** Nesting depth of a JSON value. Valid input has at most five levels. */
export const jsonLevelsMax = 64;
/** Brackets, commas and colons of JSON, such as a record of an import. */
export const jsonPartsMax = 500_000;
/** The same of a small body, such as a form: parsed, a thousand of them take 128 megabytes at most. */
export const smallPartsMax = 4_000;
/** The memory that one of them takes once it is parsed, such as half of an empty object in a list. */
export const jsonPartBytes = 32;
/** The same of a JSON body with queries, for each query that the setting of the batch size allows. A query has seven, an imported count eleven. */
export const queryPartsMax = 15;
/** The same of one query or imported count, with room for unknown fields. */
export const itemPartsMax = 1_000;
/** Bytes of one of them in a JSON body, with room for white space: it is parsed at once, in some milliseconds. */
export const itemBytesMax = 1024 * 1024;
/** Bytes of an OTLP request's body after decompression. It is read span by span, so only its largest span is in memory. */
export const otlpBytesMax = 64 * 1024 * 1024;
/** Spans or log records of one OTLP request. What is read of them stays in memory until it is recorded. */
export const otlpRecordsMax = 100_000;
/** Fields and items around them, such as resources and scopes: more than 100,000 spans with a resource each have. */
export const otlpPartsMax = 1_200_000;
/** Bytes of one of them. More is read as one that is malformed, like those with more parts or levels. */
export const otlpRecordBytesMax = 16 * 1024 * 1024;
/** Protobuf fields of one of them, or brackets, commas and colons of its JSON: reading them takes some 20 ms. */
export const otlpRecordPartsMax = 100_000;
/** Nesting depth of its JSON. */
export const otlpRecordLevelsMax = 500;
/** Bytes of an attribute that a rule reads, or of an event's name; the rest is cut. Also of a field's name in JSON. No id and no caller is as long. */
export const otlpTextBytesMax = 64 * 1024;
/** Memory of the spans that are kept to find out which request asked a query, with their texts: some 50,000 spans. */
export const indexedBytesMax = 48 * 1024 * 1024;
/** Spans of one trace among them, so that following its queries takes little time. Real traces are much smaller. */
export const traceSpansMax = 5_000;
/** Answers of models by which one query is recognized in other traces. An assistant asks its model a few times. */
export const answersMax = 100;

// Ingestion diagnostics: what arrives, counted by its source.

/** Sources of one project that are counted by name: more than most have, few enough for one page. */
export const sourcesMax = 50;
/** Characters in the name of a source, such as a service. */
export const sourceNameCharactersMax = 100;
/** Different operations of one source that are counted by name, of records that match no rule; and as many routes that ask. */
export const operationsMax = 10;
/** Characters in the value of an operation. Names are shorter, and most free text is longer. */
export const operationCharactersMax = 100;
/** Different refusals of one source in five minutes, by reason and key. */
export const refusalsMax = 20;
/** Refusals of one source that a report shows, the last ones first. */
export const refusalsShownMax = 10;
/** Projects for which a process counts requests without a known key, between two writes: their ids are whatever was sent. */
export const strangersMax = 100;
/** Pause between a process's writes of what arrived. A crash loses what arrived since the last one. */
export const ingestionWriteIntervalMs = 5_000;
/** How long a source that sends nothing any more is shown. */
export const sourceDaysMax = 7;

// Notifications.

/** Notifications of one project: several channels for each kind. */
export const notificationsMax = 20;
/** Characters in the URL of a webhook. Those of Slack have about eighty. */
export const destinationCharactersMax = 2_000;
/** Longest silence to be told about: a month. */
export const silenceHoursMax = 31 * 24;
/** How many times the usual number of queries is a spike. */
export const spikeFactorMin = 2;
export const spikeFactorMax = 100;
/** Largest minimum of a spike. */
export const spikeMinimumMax = 1_000_000;
/** Pause between a process's looks for notifications and messages that are due. */
export const notificationIntervalMs = 15_000;
/** Time for a receiver to accept a message. */
export const messageTimeoutMs = 10_000;
/** How long a message belongs to the node that is sending it. A node that crashes loses it after this time. */
export const messageLeaseMs = 2 * minuteMs;
/** Messages that one process sends at a time. */
export const messagesSentMax = 10;
/** Days for which sent and given-up messages are listed. */
export const messageDaysMax = 30;
/** Newest messages that the dashboard lists. */
export const messagesListedMax = 20;
/** Test messages of one organization within an hour: they go to any address that an editor names. */
export const testMessagesMax = 20;
export const testMessagesWindowSeconds = hourMs / secondMs;
/** Invitations that one organization sends by e-mail within an hour, for the same reason. Further ones have only a link. */
export const invitationMailsMax = 20;
export const invitationMailsWindowSeconds = hourMs / secondMs;

// Committing.

/** Queries waiting to be committed, over all requests. Beyond it, recording is refused with 503. */
export const pendingQueriesMax = 200_000;
/** Operations waiting to be committed; a request is one operation, whatever its size. */
export const pendingOperationsMax = 20_000;
/** Queries in one commit, so that the next one does not wait longer than for this many rows. */
export const commitQueriesMax = 20_000;
/**
 * Queries in one commit of an import into SQLite. With random ids and times, each commit writes most pages of the tables again:
 * 594 bytes a query, and 8,200 with commits of 3,000. More would take more memory: an import takes 250 MB, and 210 with 10,000.
 */
export const importCommitQueriesMax = 30_000;

// Database servers.

/** Connections of one node to a database server (setting): ten nodes fit PostgreSQL's usual hundred. */
export const databaseConnectionsMax = 10;
/** Time for a database server to answer a read or write (setting). */
export const databaseTimeoutMs = 5_000;
