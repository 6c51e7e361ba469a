/**
 * The parts of the product that the simulation runs, as they are. `bundle.ts` builds this file and runs it once for each simulated
 * process, with the simulated clock, network and disk in place of the globals and of Node's modules.
 */
export { createRecorder } from '../../clients/javascript/src/recorder.js';
export { openSpool } from '../../clients/javascript/src/spool.js';
export { correct } from '../../src/app/corrections.js';
export { runCorrections } from '../../src/app/jobs/corrections.js';
export { parseCorrection } from '../../src/domain/corrections/correction.js';
export { CallerStatsError } from '../../src/domain/errors.js';
export { pendingOperationsMax, pendingQueriesMax } from '../../src/domain/limits.js';
export { parseQuery } from '../../src/domain/queries/query.js';
export { Admission } from '../../src/http/admission/admission.js';
export { limitConnections } from '../../src/http/connection/deadlines.js';
export { answerError, LoadSheddingError } from '../../src/http/server/errors.js';
export { withDeadline } from '../../src/shared/deadline.js';
export { retry } from '../../src/shared/retry.js';
export { SharedCalls } from '../../src/shared/shared-calls.js';
export { Backlog, CommitQueue } from '../../src/storage/commit-queue.js';
export { encodeQueryId } from '../../src/storage/postgres/query-id.js';
export { Recorder } from '../../src/storage/postgres/recorder.js';
export { SqlCorrections } from '../../src/storage/sql/parts.js';
export { SQLITE } from '../../src/storage/sqlite/dialect.js';
export { SqliteQueryRows } from '../../src/storage/sqlite/query-rows.js';
export { Statements } from '../../src/storage/sqlite/statements.js';
export { commitMerged } from '../../src/storage/sqlite/writer/merged-recordings.js';
export { Writer } from '../../src/storage/sqlite/writer/writer.js';
