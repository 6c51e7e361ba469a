/**
 * Bugs to plant in the stores, at least one for each promise of `src/storage/ports`, to see that a test finds it. Each replaces one
 * text of a source file. If the text has changed, planting it fails, and says so.
 */
import type { Replacement } from '../support/setup/planted.js';

export interface PlantedBug extends Replacement {
  readonly what: string;
  /** The method of a port whose promise it breaks. */
  readonly breaks?: string;
  /** The file of tests that finds it. */
  readonly test: string;
  /** Runs only the tests whose names contain this. */
  readonly only?: string;
}

/** Tests that every store passes, of one part. */
const stores = (part: string) => ({ test: 'test/conformance/stores.test.ts', only: `: ${part} ` }) as const;

const sqlite = 'src/storage/sqlite';
const postgres = 'src/storage/postgres';
const sql = 'src/storage/sql';
const restoring = {
  file: `${sqlite}/files/backup.ts`,
  test: 'test/storage/sqlite/files/backup.test.ts',
} as const;
const snapshot = {
  file: `${sqlite}/files/snapshot.ts`,
  test: 'test/storage/sqlite/files/snapshot.test.ts',
} as const;
const sqliteRecording = { file: `${sqlite}/writer/recording.ts`, ...stores('recording') } as const;
const merging = {
  file: `${sqlite}/writer/merged-recordings.ts`,
  test: 'test/storage/sqlite/writer/merged-recordings.test.ts',
} as const;
const postgresRecording = {
  file: `${postgres}/migrations/functions/recording.ts`,
  ...stores('recording'),
} as const;
const recordOne = {
  file: `${postgres}/migrations/functions/record-one.ts`,
  ...stores('recording'),
} as const;
const proved = {
  file: `${postgres}/statements/recording.ts`,
  test: 'test/program/postgres/proved-later.test.ts',
} as const;
const standby = {
  test: 'test/program/postgres/failover.test.ts',
  only: 'a repeated recording waits',
} as const;
const recorder = { file: `${postgres}/recorder.ts`, test: 'test/storage/postgres/recorder.test.ts' } as const;
const cache = {
  file: `${sqlite}/counters/rollup-cache.ts`,
  test: 'test/storage/sqlite/counters/rollup-cache.test.ts',
} as const;
const sums = {
  file: `${sqlite}/counters/prefix-sums.ts`,
  test: 'test/storage/sqlite/counters/prefix-sums.test.ts',
} as const;
const deltas = {
  file: `${sqlite}/counters/counter-deltas.ts`,
  test: 'test/storage/sqlite/counters/counter-deltas.test.ts',
} as const;
const kept = { test: 'test/storage/sqlite/counters/moments.test.ts' } as const;
const counting = { file: `${postgres}/statements/counting.ts`, ...stores('counting') } as const;
const directory = `${sql}/directory-changes.ts`;
const reads = `${sql}/directory-reads.ts`;
const throttles = { file: `${sql}/throttles.ts`, ...stores('attempts') } as const;
const notifications = { file: `${sql}/notifications.ts`, ...stores('notifications') } as const;
const messages = { file: `${sql}/notifications.ts`, ...stores('messages') } as const;
const ingestion = { file: `${sql}/ingestion.ts`, ...stores('what arrives') } as const;
const queries = stores('queries');
const corrections = stores('corrections');
const history = stores('the past');
const recordingCheck = { test: 'test/storage/recording-check.test.ts' } as const;
const planner = { file: `${sql}/corrections/planner.ts`, ...corrections } as const;

export const PLANTED_BUGS: readonly PlantedBug[] = [
  // Files.
  {
    ...snapshot,
    what: 'a backup gets its name before its bytes are on disk',
    text: '    flush(draft);\n',
    by: '',
  },
  {
    ...snapshot,
    what: 'a backup gets its name before what made room for it is on disk',
    text: `    flushFolder(dirname(target));
    renameSync(draft, target);`,
    by: '    renameSync(draft, target);',
  },
  {
    ...snapshot,
    what: 'the name of a backup is not on disk when it is reported',
    text: `    renameSync(draft, target);
    flushFolder(dirname(target));`,
    by: '    renameSync(draft, target);',
  },
  {
    ...snapshot,
    what: 'a backup is readable by everybody',
    text: '    chmodSync(draft, access.mode);\n',
    by: '    chmodSync(draft, 0o644);\n',
  },
  {
    ...restoring,
    what: 'the second name of the replaced file is not on disk when the first one goes',
    text: `  linkSync(file, kept);
  flushFolder(dirname(file));`,
    by: '  linkSync(file, kept);',
  },
  {
    ...restoring,
    what: 'the kept log of a damaged file is not on disk',
    text: 'else if (existsSync(keptLog)) flush(keptLog);',
    by: '',
  },
  {
    ...restoring,
    what: 'the log of a database that has gone stays beside the restored one',
    text: "['-wal', '-journal', '-shm']",
    by: "['-journal', '-shm']",
  },
  // Recording.
  {
    ...sqliteRecording,
    what: 'a duplicate is counted',
    text: '(recorded[recording] as number) + 1;',
    by: '(recorded[recording] as number) + 2;',
  },
  {
    ...merging,
    what: 'a recording that waits with others gets the outcome of one of them',
    text: 'inOrder[place] = outcome;',
    by: 'inOrder[at] = outcome;',
  },
  {
    ...merging,
    what: 'recordings that wait together change places with the deletion of their project',
    text: "if (operation.kind !== 'record') open.clear();",
    by: '',
  },
  {
    ...merging,
    what: 'queries of two senders that wait together have the receipt of one',
    text: '`${projectId} ${receipt.day} ${receipt.sender}`',
    by: '`${projectId} ${receipt.day}`',
  },
  {
    test: 'test/storage/sqlite/writer/writer.test.ts',
    file: `${sqlite}/writer/writer.ts`,
    what: 'the writer never learns that another process has changed the file',
    text: 'if (version === this.#version) return;',
    by: 'if (this.#version !== undefined) return;',
  },
  {
    test: 'test/program/sqlite/writing.test.ts',
    file: `${sqlite}/writer/writer.ts`,
    what: 'the writer remembers what an undone transaction had inserted',
    text: `      this.#recording.forget();
      throw storeError(error);`,
    by: '      throw storeError(error);',
  },
  {
    ...sqliteRecording,
    what: 'of equal ids in one batch, not the first counts',
    text: "return order.sort((a, b) => compare(ids[a] ?? '', ids[b] ?? ''));",
    by: "return order.reverse().sort((a, b) => compare(ids[a] ?? '', ids[b] ?? ''));",
  },
  {
    ...sqliteRecording,
    ...stores('retention'),
    what: 'queries from before the retained rows are recorded',
    text: 'if (tooOld !== undefined) throw tooOld;',
    by: '',
  },
  {
    ...sqliteRecording,
    ...corrections,
    what: 'a query that is recorded after a correction belongs to it',
    text: 'AND sender = $3 AND number > $4',
    by: 'AND sender = $3 AND $4 = $4',
  },
  {
    ...sqliteRecording,
    ...corrections,
    what: 'counters that became zero stay',
    text: 'if (sum === 0) this.#statements.run',
    by: 'if (sum === null) this.#statements.run',
  },
  {
    ...sqliteRecording,
    ...stores('imported counts'),
    what: 'counts are imported although they contradict others',
    text: 'if (conflicts.length > 0) throw conflictError(conflicts);',
    by: '',
  },
  {
    ...sqliteRecording,
    ...stores('imported counts'),
    what: 'a dry run imports',
    text: 'if (!dryRun) {',
    by: '{',
  },
  {
    file: `${sqlite}/writer/query-insert.ts`,
    test: 'test/storage/sqlite/writer/query-insert.test.ts',
    what: 'a row gets the id of another',
    text: '1 + row * uuidBytes',
    by: '1 + (row >> 1) * uuidBytes',
  },
  {
    file: `${sqlite}/writer/counter-insert.ts`,
    test: 'test/storage/sqlite/writer/counter-insert.test.ts',
    what: 'a count that is too large for its place spills over into another type',
    text: 'Math.max(web, api, other) < countEnd',
    by: 'Math.max(web, api, other) <= countEnd',
  },
  {
    file: `${sqlite}/writer/query-insert.ts`,
    test: 'test/storage/sqlite/writer/query-insert.test.ts',
    what: 'after a duplicate in a large batch, the rows before it are not counted',
    text: 'return changes[0];',
    by: 'return 0 * changes[0];',
  },
  {
    ...recordOne,
    what: 'an id that is there already is counted as new',
    text: 'RETURN false;',
    by: 'RETURN true;',
  },
  {
    ...recordOne,
    test: 'test/program/postgres/row-levels.test.ts',
    only: 'counts its own queries',
    what: 'callers of the type other that send one query at a time have no counters',
    text: 'IF is_other = 1 THEN',
    by: 'IF is_other = 2 THEN',
  },
  {
    ...recordOne,
    ...stores('retention'),
    what: 'one query from before the retained rows is recorded',
    text: 'IF kept_from > new_time THEN',
    by: 'IF kept_from > new_time + 86400000000 THEN',
  },
  {
    ...recordOne,
    ...corrections,
    what: 'one query that is recorded after a correction belongs to it',
    text: "'coalesce(project.receipt_fence, 0)'",
    by: "'0'",
  },
  {
    ...recordOne,
    test: 'test/program/postgres/row-levels.test.ts',
    only: 'counts its own queries',
    what: 'one query of a busy quarter of an hour is in no narrow counters',
    text: 'THEN 0 ELSE 1',
    by: 'THEN 2 ELSE 2',
  },
  {
    ...recordOne,
    test: 'test/program/postgres/row-levels.test.ts',
    only: 'counts its own queries',
    what: 'one query of ten busy seconds is in no counter of its millisecond',
    text: 'THEN 0 ELSE 1',
    by: 'THEN 1 ELSE 1',
  },
  {
    ...recordOne,
    test: 'test/program/postgres/row-levels.test.ts',
    only: 'counts its own queries',
    what: 'the counters of one query begin a level too far up',
    text: 'ELSIF new_level = 1 THEN${count(schema, 1)}',
    by: 'ELSIF new_level = 1 THEN${count(schema, 2)}',
  },
  {
    ...recordOne,
    test: 'test/program/postgres/deletion.test.ts',
    only: 'of one query in progress',
    what: 'a deletion does not wait for the recording of one query',
    text: 'BEGIN${shareLock(schema)}',
    by: 'BEGIN',
  },
  {
    ...recordOne,
    test: 'test/program/postgres/durability.test.ts',
    only: 'recording itself requests',
    what: 'one query is acknowledged before it is on disk, behind a pooler',
    text: '${SYNCHRONOUS}',
    by: '',
  },
  {
    ...recordOne,
    ...standby,
    what: 'a query that is there already is acknowledged before a standby has it',
    text: '${CONFIRM}',
    by: '',
  },
  {
    ...postgresRecording,
    ...standby,
    what: 'an array that is there already is acknowledged before a standby has it',
    text: '${CONFIRM}\n      RETURN duplicates;',
    by: 'RETURN duplicates;',
  },
  {
    ...postgresRecording,
    ...standby,
    what: 'imported counts that are there already are acknowledged before a standby has them',
    text: '${CONFIRM}\n      RETURN jsonb',
    by: 'RETURN jsonb',
  },
  {
    ...proved,
    what: 'one query is recorded although its key has changed',
    text: '${ACCESS_STAMP} IS NOT DISTINCT FROM $8 AS proved',
    by: '(${ACCESS_STAMP} IS NOT DISTINCT FROM $8 OR true) AS proved',
  },
  {
    ...proved,
    what: 'a key is looked up for each query, although it has not changed',
    text: 'found_project.id = $1',
    by: "found_project.id = $1 || 'x'",
  },
  {
    ...postgresRecording,
    ...stores('series'),
    what: 'queries between midnight and the end of a bucket before 1970 are in another bucket',
    text: '`(${time} - ((${time} % ${ms}) + ${ms}) % ${ms}) / ${ms}`',
    by: '`(${time} / ${ms})`',
  },
  {
    ...postgresRecording,
    what: 'the duplicates of an array are counted',
    text: 'IF cardinality(new_ids) < cardinality(ids) THEN',
    by: 'IF cardinality(new_ids) > cardinality(ids) THEN',
  },
  {
    ...postgresRecording,
    ...stores('retention'),
    what: 'only the last query of an array is compared with the retained rows',
    text: 'SELECT min(time) FROM unnest(times)',
    by: 'SELECT max(time) FROM unnest(times)',
  },
  {
    ...recorder,
    what: 'all requests of a call get the duplicates of the first',
    text: 'if (!known.has(at + 1)) counts.set',
    by: 'if (!known.has(at)) counts.set',
  },
  {
    ...recorder,
    what: 'a request that waited too long is recorded',
    text: 'if (batch.signal.aborted)',
    by: 'if (batch.signal.aborted && batch.queries.length < 0)',
  },
  {
    ...recorder,
    what: 'calls of different projects wait for each other',
    text: 'const known = this.#queues.get(projectId);',
    by: 'const known = this.#queues.get(projectId) ?? [...this.#queues.values()][0];',
  },
  // Counting.
  {
    ...deltas,
    what: 'a query at the end of a bucket is in the next one',
    text: 'rows.begin(Math.floor(bucket / ratio));',
    by: 'rows.begin(Math.floor((bucket + 1) / ratio));',
  },
  {
    ...deltas,
    ...corrections,
    what: 'removals do not say that counters may become zero',
    text: 'if (queries < 0) this.#removes = true;',
    by: '',
  },
  {
    ...kept,
    file: `${sqlite}/writer/moment-insert.ts`,
    what: 'queries for which a bucket has no room are not in narrow counters',
    text: 'if (left !== 0) placed.add(0,',
    by: 'if (left < 0) placed.add(0,',
  },
  {
    ...kept,
    file: `${sqlite}/writer/moment-insert.ts`,
    what: 'the last bucket of a transaction does not keep its queries',
    text: 'for (const bucket of buckets) this.#end(project, bucket);',
    by: '',
  },
  {
    ...kept,
    file: `${sqlite}/writer/moment-insert.ts`,
    what: 'a removed query stays among those that are kept',
    text: 'if (changed !== 0) this.#isChanged = true;',
    by: 'if (changed > 0) this.#isChanged = true;',
  },
  {
    ...kept,
    file: `${sqlite}/writer/moment-insert.ts`,
    what: 'a bucket is left without queries, and stays',
    text: 'if (queries.length === 0) this.#remove.run',
    by: 'if (queries.length < 0) this.#remove.run',
  },
  {
    ...kept,
    file: `${sqlite}/counters/moments.ts`,
    what: 'a caller with a large number becomes another one',
    text: 'caller < callerEnd',
    by: 'caller <= callerEnd',
  },
  {
    ...kept,
    file: `${sqlite}/counters/moment-reader.ts`,
    what: 'a range has all queries of a bucket that it cuts',
    text: 'if (timeMs >= from && timeMs < to) each(',
    by: 'if (timeMs >= from || timeMs < to) each(',
  },
  {
    ...kept,
    file: `${sqlite}/counters/counter-reader.ts`,
    what: 'the extent of a project leaves out queries without narrow counters, on SQLite',
    text: 'else readMoments(level, bucket, queries, (timeMs) => times.push(timeMs));',
    by: '',
  },
  {
    ...kept,
    file: cache.file,
    what: 'a cached period leaves out queries without narrow counters',
    text: 'if (added === 0) return counters;',
    by: 'if (added >= 0) return counters;',
  },
  {
    file: `${sqlite}/counters/agreement.ts`,
    test: 'test/storage/sqlite/counters/agreement.test.ts',
    what: 'counters that are right are sorted because of queries that are kept one by one',
    text: 'if (caller >= TYPE_INDEX.other) this.callers.add(bucket, caller, queries);',
    by: '',
  },
  {
    file: `${sqlite}/counters/agreement.ts`,
    test: 'test/storage/sqlite/counters/agreement.test.ts',
    what: 'verify overlooks wrong counters of a caller',
    text: 'if (!types.isZero || !callers.isZero) return false;',
    by: 'if (!types.isZero) return false;',
  },
  {
    file: `${sqlite}/writer/purge.ts`,
    test: 'test/storage/sqlite/writer/purge.test.ts',
    what: 'the kept queries of a deleted project stay',
    text: "  { table: 'moment', columns: ['level', 'bucket'] },\n",
    by: '',
  },
  {
    ...sums,
    what: 'the last bucket is left out',
    text: 'return Math.min(Math.max(wanted, 0), this.#length);',
    by: 'return Math.min(Math.max(wanted, 0), this.#length - 1);',
  },
  {
    ...sums,
    what: 'sums over 2^32 wrap around',
    text: 'numbers.every((number) => number < 2 ** 32)',
    by: 'numbers.every((number) => number < 2 ** 53)',
  },
  {
    ...cache,
    what: 'a cached period survives a correction',
    text: '|| entry.revision !== revision) {',
    by: ') {',
  },
  {
    ...cache,
    what: 'a cached period survives a recording',
    text: 'if (entry.queries === queries) return;',
    by: 'if (entry.queries > 0) return;',
  },
  {
    ...cache,
    what: 'a project gets the cache of a deleted one with its id',
    text: 'if (entry?.project !== number ||',
    by: 'if (entry === undefined ||',
  },
  {
    file: `${sqlite}/counters/versioned-cache.ts`,
    test: 'test/storage/sqlite/counters/versioned-cache.test.ts',
    what: 'an answer is cached beyond a commit',
    text: 'if (version !== this.#seen) this.#values.clear();',
    by: '',
  },
  {
    file: `${sqlite}/counters/counter-reader.ts`,
    ...stores('series'),
    what: 'the series of two callers share an entry of the cache',
    text: "`${projectId} ${caller ?? ''} ${bounds.join()}`",
    by: '`${projectId} ${bounds.join()}`',
  },
  {
    file: `${sqlite}/counters/counter-reader.ts`,
    ...stores('series'),
    what: 'the series by caller of two sets of callers share an entry of the cache',
    text: '`${projectId} ${callers.join()} ${bounds.join()}`',
    by: '`${projectId} ${bounds.join()}`',
  },
  {
    ...counting,
    what: 'queries that their counters do not include are not counted',
    text: "UNION ALL${partsOfRows.join(' UNION ALL')}",
    by: "${partsOfRows.join('').slice(0, 0)}",
  },
  {
    ...counting,
    ...stores('the extent of a project'),
    what: 'the extent of a project leaves out rows without narrow counters',
    text: 'WHERE project_id = $1 AND level = ${level})`).join',
    by: 'WHERE project_id = $1 AND level = 9 + ${level})`).join',
  },
  {
    ...counting,
    ...stores('callers'),
    what: 'the callers of two ranges are added up',
    text: `FROM \${countsOfOtherCallers()}
      GROUP BY part.sum, part.caller`,
    by: `FROM \${countsOfOtherCallers()}
      WHERE part.sum = 0 GROUP BY part.sum, part.caller`,
  },
  // Access, projects and keys.
  {
    file: `${postgres}/directory.ts`,
    ...stores('access'),
    what: 'requests of one moment share a look-up by the key alone',
    text: '`${keyHash} ${projectId} ${withProof}`',
    by: 'keyHash',
  },
  {
    file: `${sqlite}/reader.ts`,
    ...stores('access'),
    what: 'a key gets the project of its first request',
    text: 'return found?.accesses.getOrCreate(projectId,',
    by: "return found?.accesses.getOrCreate('',",
  },
  {
    file: `${sqlite}/reader.ts`,
    ...stores('keys'),
    what: 'a key finds projects of other organizations',
    text: 'FROM project WHERE id = $1 AND organization_id = $2`',
    by: 'FROM project WHERE id = $1 AND $2 = $2`',
  },
  {
    file: directory,
    ...stores('changing a key'),
    what: 'a revoked key is revoked again, with another time',
    text: "set: 'revoked_at = $3', where: 'revoked_at IS NULL'",
    by: "set: 'revoked_at = $3', where: 'true'",
  },
  {
    file: directory,
    ...stores('changing a key'),
    what: 'a key of another organization can be changed',
    text: 'WHERE organization_id = $1 AND id = $2 AND ${where}',
    by: 'WHERE $1 = $1 AND id = $2 AND ${where}',
  },
  {
    file: directory,
    ...stores('rotating a key'),
    what: 'a key can be rotated twice',
    text: "'revoked_at IS NULL AND successor_id IS NULL'",
    by: "'revoked_at IS NULL'",
  },
  {
    file: directory,
    ...stores('share links'),
    what: 'a project gets one share link too many',
    text: 'if (links.length >= shareLinksMax)',
    by: 'if (links.length > shareLinksMax)',
  },
  {
    file: reads,
    ...stores('share links'),
    what: 'an expired share link opens',
    text: 'AND (expires_at IS NULL OR expires_at > $2)',
    by: 'AND $2 = $2',
  },
  {
    file: reads,
    ...stores('organizations and projects'),
    what: 'projects of other organizations are listed',
    text: 'const rest = `WHERE organization_id = $1 ${this.dialect.andNotDeleted} ORDER',
    by: 'const rest = `WHERE $1 = $1 ${this.dialect.andNotDeleted} ORDER',
  },
  {
    file: directory,
    ...stores('organizations and projects'),
    what: 'the reason why an id is taken names the project of another organization',
    text: "const own = 'WHERE id = $1 AND organization_id = $2';",
    by: "const own = 'WHERE id = $1 AND $2 = $2';",
  },
  {
    file: directory,
    ...stores('notifications'),
    what: 'a deleted project keeps its notifications',
    text: "await this.session.run(`DELETE FROM ${this.table('notification')} WHERE project_id = $1`, [projectId]);",
    by: '',
  },
  // People.
  {
    file: directory,
    ...stores('the last owner'),
    what: 'the last owner can be removed',
    text: 'if (others.length === 0) throw lastOwnerError(email);',
    by: '',
  },
  {
    file: directory,
    ...stores('invitations'),
    what: 'an invitation can be used by somebody else',
    text: 'if (email !== usedBy) throw invalidInvitationError();',
    by: '',
  },
  {
    file: directory,
    ...stores('invitations'),
    what: 'an expired invitation can be used',
    text: "const where = 'WHERE token_hash = $1 AND expires_at > $2';",
    by: "const where = 'WHERE token_hash = $1 AND $2 = $2';",
  },
  {
    file: directory,
    ...stores('invitations'),
    what: 'an invitation can be used twice',
    text: "await this.session.run(`DELETE FROM ${this.table('invitation')} WHERE id = $1`, [id]);",
    by: '',
  },
  {
    file: directory,
    ...stores('people'),
    what: 'the invitations of an owner outlive the role',
    text: "if (role !== 'owner') await this.#withdrawInvitationsBy(organizationId, email, by);",
    by: "if (role === 'owner') await this.#withdrawInvitationsBy(organizationId, email, by);",
  },
  {
    file: reads,
    ...stores('the audit log'),
    what: 'the audit log of another organization is read',
    text: "['organization_id =', organizationId],",
    by: "['organization_id >=', ''],",
  },
  {
    ...throttles,
    what: 'one attempt too many is allowed',
    text: 'OR kept.attempts < $2',
    by: 'OR kept.attempts <= $2',
  },
  {
    ...throttles,
    what: 'an attempt is given back to a later window',
    text: 'WHERE key = $1 AND resets_at = $2 AND attempts > 0',
    by: 'WHERE key = $1 AND $2 = $2 AND attempts > 0',
  },
  // Notifications.
  {
    ...notifications,
    what: 'two nodes end the same check',
    text: 'WHERE id = $1 AND check_at = $2',
    by: 'WHERE id = $1 AND $2 = $2',
  },
  {
    ...messages,
    what: 'a message is claimed before its time',
    text: "state = 'pending' AND (next_at <= $1 OR next_at > $4)",
    by: "state = 'pending' AND ($1 = $1 OR next_at > $4)",
  },
  {
    ...messages,
    what: 'a late node takes back what another one is sending',
    text: 'AND (attempts = $2 OR $7 = 1)',
    by: 'AND ($2 = $2 OR $7 = 1)',
  },
  {
    ...messages,
    what: 'pending messages are removed',
    text: "WHERE state <> 'pending' AND finished_at < $1",
    by: 'WHERE coalesce(finished_at, 0) < $1',
  },
  {
    ...notifications,
    what: 'a project gets one notification too many',
    text: 'if (Number(row?.present) >= notificationsMax)',
    by: 'if (Number(row?.present) > notificationsMax)',
  },
  // What arrives.
  {
    ...ingestion,
    what: 'counts of one bucket replace each other',
    text: '${name} = kept.${name} + excluded.${name}',
    by: '${name} = excluded.${name}',
  },
  {
    ...ingestion,
    what: 'a source was last seen when something older arrived',
    text: '\n       WHERE excluded.seen_at > kept.seen_at`',
    by: '`',
  },
  {
    ...ingestion,
    what: 'refusals are counted among the sums',
    text: 'AND bucket >= $2 AND NOT ${IS_REFUSAL}\n       GROUP BY',
    by: 'AND bucket >= $2\n       GROUP BY',
  },
  // Telemetry and corrections.
  {
    file: `${sql}/identities/found-states.ts`,
    ...queries,
    what: 'a caller that a correction has changed is replaced by a late one',
    text: 'const isLate = row.caller === assumed;',
    by: 'const isLate = true;',
  },
  {
    file: `${sql}/corrections/corrections.ts`,
    ...queries,
    what: 'a correction hides what had become known late of a query',
    text: 'if (noted.length > 0) await',
    by: 'if (noted.length < 0) await',
  },
  {
    file: `${sql}/identities/identity-changes.ts`,
    ...queries,
    what: 'a clock that has jumped forgets the keys of queries',
    text: 'const times = { nowMs, expiryMs };',
    by: 'const times = { nowMs, expiryMs: nowMs };',
  },
  {
    file: `${sql}/identities/found-states.ts`,
    ...queries,
    what: 'a query that turned out to be another one counts on',
    text: 'isWithdrawn: countsAs !== null };',
    by: 'isWithdrawn: countsAs === undefined };',
  },
  {
    file: `${sql}/identities/identity-changes.ts`,
    ...queries,
    what: 'keys of other projects are found',
    text: 'FROM ${this.#table}\n       WHERE ${this.#project} = $1 AND name IN',
    by: 'FROM ${this.#table} WHERE $1 = $1 AND name IN',
  },
  {
    ...planner,
    what: 'a correction changes queries that came after it',
    text: 'receipt.number <= receiptsTo && isSelected',
    by: 'receipt.number >= 0 && isSelected',
  },
  {
    ...planner,
    what: 'a correction can be undone twice',
    text: 'if (undoneBy !== null) throw refusal(`correction: ${id} was undone by ${undoneBy} already`);',
    by: '',
  },
  {
    ...planner,
    what: 'an undo takes back other corrections of the same queries',
    text: 'AND undone_by IS NULL AND number IN',
    by: 'AND undone_by IS NOT NULL AND number IN',
  },
  {
    ...planner,
    what: 'another request with the id of a correction is answered with it',
    text: 'if (present.request === request && hash(present.ids) === hash(ids))',
    by: 'if (present.request !== null)',
  },
  {
    file: `${sql}/corrections/query-rows.ts`,
    ...corrections,
    what: 'a renamed query counts for both callers',
    text: ': [...change(row, -1), ...change(to, 1)];',
    by: ': change(to, 1);',
  },
  {
    file: `${postgres}/statements/corrections.ts`,
    ...corrections,
    what: 'a correction by sender changes what others sent',
    text: 'ELSE receipt = ANY ($8::integer[]) END',
    by: 'ELSE $8::integer[] IS NOT NULL END',
  },
  // Retention and deletion.
  {
    file: `${postgres}/statements/retention.ts`,
    ...stores('retention'),
    what: 'the queries that retention removes are counted no longer',
    text: 'ON narrower.level < swept.row_level`',
    by: 'ON narrower.level > swept.row_level`',
  },
  {
    file: `${postgres}/purge.ts`,
    ...stores('retention'),
    what: 'retention removes queries that are new enough',
    text: 'occurredAt < (rowsFrom ?? EARLIEST_MS)',
    by: 'occurredAt <= (rowsFrom ?? EARLIEST_MS) + 86_400_000',
  },
  {
    file: `${sqlite}/writer/purge.ts`,
    ...stores('retention'),
    what: 'retention removes queries that are new enough, on SQLite',
    text: 'AND id > $2 AND occurred_at < $3',
    by: 'AND id > $2 AND occurred_at < $3 + 86400000',
  },
  {
    file: `${sqlite}/writer/purge.ts`,
    ...stores('deleting a project'),
    what: 'the counters of a deleted project stay',
    text: "  { table: 'query_counter', columns: ['level', 'bucket'] },\n",
    by: '',
  },
  // What came about.
  {
    file: `${sql}/history.ts`,
    ...history,
    breaks: 'history.findPast',
    what: 'the past of a deleted project is told until its queries are removed',
    text: 'WHERE id = $1 ${this.dialect.andNotDeleted}`,\n      [projectId],\n    );\n    if (project === undefined) throw notFound(`project ${projectId}`);',
    by: 'WHERE id = $1`,\n      [projectId],\n    );\n    if (project === undefined) throw notFound(`project ${projectId}`);',
  },
  {
    file: `${sql}/history.ts`,
    ...history,
    breaks: 'history.findPast',
    what: 'the past of a range is unknown although retention has removed nothing in it',
    text: ' && (await this.#hasBefore(key, from, rowsFrom))',
    by: '',
  },
  {
    file: `${sqlite}/query-rows.ts`,
    ...history,
    breaks: 'history.readPast',
    what: 'the first page of the past leaves out ids that are kept as texts',
    text: "const encodeAfter = (id: string | undefined): StoredId => (id === undefined ? '' : encodeQueryId(id));",
    by: 'const encodeAfter = (id: string | undefined): StoredId => (id === undefined ? new Uint8Array(1) : encodeQueryId(id));',
  },
  {
    file: `${postgres}/statements/corrections.ts`,
    ...history,
    breaks: 'history.readPast',
    what: 'queries of two spans are one part of the past',
    text: 'occurred_at < $7, (occurred_at - $4::bigint) / $8::bigint',
    by: 'occurred_at < $7, (occurred_at - $4::bigint) / ($8::bigint * 2)',
  },
  {
    file: `${sql}/history.ts`,
    ...history,
    breaks: 'history.readPast',
    what: 'imported counts beyond the first page of the past are left out',
    text: 'next: next === undefined || rows.length < pastStepCounts ? null',
    by: 'next: next === undefined || rows.length <= pastStepCounts ? null',
  },
  {
    file: `${sqlite}/reader.ts`,
    ...stores('where imports lie'),
    breaks: 'counts.listImports',
    what: 'the oldest imports come first',
    text: 'ORDER BY day DESC, sender LIMIT $2`',
    by: 'ORDER BY day, sender LIMIT $2`',
  },
  {
    file: `${postgres}/statements/recording.ts`,
    ...stores('where imports lie'),
    breaks: 'counts.listImports',
    what: 'an import that reaches as far back as the day before is listed',
    text: 'first_at < (day - 1) * ${dayMs}::bigint',
    by: 'first_at <= (day - 1) * ${dayMs}::bigint',
  },
  {
    file: `${sqlite}/reader.ts`,
    ...corrections,
    breaks: 'counts.findCutSpan',
    what: 'a span is cut whose count a correction has withdrawn',
    text: ' AND queries > 0 AND withdrawn_by IS NULL`',
    by: ' AND queries > 0`',
  },
  {
    file: `${postgres}/statements/recording.ts`,
    ...stores('imported counts'),
    breaks: 'counts.findCutSpan',
    what: 'a span is cut that ends at the edge',
    text: 'AND start_at < bucket."to" AND end_at > bucket."to"',
    by: 'AND start_at < bucket."to" AND end_at >= bucket."to"',
  },
  {
    file: `${sqlite}/reader.ts`,
    ...corrections,
    breaks: 'counts.readQueries',
    what: 'the last query of a page is as if it had not been corrected',
    text: 'AND id > $2 AND id <= $3 ORDER BY id, correction`',
    by: 'AND id > $2 AND id < $3 ORDER BY id, correction`',
  },
  {
    file: `${postgres}/statements/recording.ts`,
    ...stores('recording'),
    breaks: 'counts.readQueries',
    what: 'the queries of a page have the receipts of another project',
    text: 'FROM ${schema}.receipt WHERE project_id = $1) AS receipt',
    by: 'FROM ${schema}.receipt) AS receipt',
  },
  {
    file: `${sqlite}/reader.ts`,
    ...stores('imported counts'),
    breaks: 'counts.readImportedCounts',
    what: 'pages of imported counts are in another order than that in which they follow each other',
    text: 'ORDER BY source, counted.caller, start_at LIMIT $5`',
    by: 'ORDER BY source, caller.name, start_at LIMIT $5`',
  },
  {
    file: `${postgres}/statements/recording.ts`,
    ...corrections,
    breaks: 'counts.readImportedCounts',
    what: 'an imported count has the withdrawals of other spans',
    text: 'AND withdrawn_count.start_at = counted.start_at) AS withdrawals',
    by: 'AND withdrawn_count.start_at <= counted.start_at) AS withdrawals',
  },
  {
    file: reads,
    ...stores('keys'),
    breaks: 'directory.listExpiringKeys',
    what: 'the expiry of a disabled key is announced',
    text: 'AND disabled_at IS NULL AND scopes',
    by: 'AND scopes',
  },
  {
    file: reads,
    ...stores('keys'),
    breaks: 'directory.listExpiringKeys',
    what: 'the expiry of a key that only reads is announced',
    text: " AND scopes LIKE '%write%'`",
    by: '`',
  },
  {
    file: reads,
    ...stores('people'),
    breaks: 'directory.listMemberships',
    what: 'an account whose address nobody has proved opens the organizations of the address',
    text: 'WHERE member.email = $1 AND (user_account.id IS NULL OR ${opens(this.dialect)})\n',
    by: 'WHERE member.email = $1\n',
  },
  {
    file: reads,
    ...stores('people'),
    breaks: 'directory.isExpected',
    what: 'somebody is expected whose invitation has expired',
    text: 'WHERE email = $1 AND expires_at > $2 LIMIT 1`',
    by: 'WHERE email = $1 AND $2 = $2 LIMIT 1`',
  },
  {
    file: reads,
    ...stores('people'),
    breaks: 'directory.findUsers',
    what: 'accounts that do not open the organization are found for it',
    text: "${only.length === 0 ? '' : `AND ${opens(this.dialect, '$2')}`}",
    by: "${only.length === 0 ? '' : 'AND $2 = $2'}",
  },
  {
    file: reads,
    ...stores('people'),
    breaks: 'directory.isSetUpOpen',
    what: 'set-up is over when anybody of an organization has an account',
    text: "WHERE member.role = 'owner' AND ${opens(dialect)} ORDER",
    by: 'WHERE ${opens(dialect)} ORDER',
  },
  {
    file: directory,
    ...stores('a server secret'),
    breaks: 'directory.keepSecret',
    what: 'each node keeps the secret that it proposed',
    text: "return String(row?.['value']);",
    by: 'return proposed;',
  },
  {
    file: directory,
    ...stores('keys'),
    breaks: 'directory.touchKey',
    what: 'the last use of a key stays in the future that a wrong clock wrote',
    text: ' OR last_used_at < $2 OR last_used_at > $3)',
    by: ' OR last_used_at < $2 OR $3 = 0)',
  },
  {
    file: directory,
    ...stores('the audit log'),
    breaks: 'directory.pruneAudit',
    what: 'entries of the audit log are removed at the time until when they are kept',
    text: 'WHERE at < $1 ORDER BY number LIMIT $2)',
    by: 'WHERE at <= $1 ORDER BY number LIMIT $2)',
  },
  {
    file: 'src/storage/recording-check.ts',
    ...recordingCheck,
    breaks: 'maintenance.checkRecording',
    what: 'each check of recording makes a commit',
    text: 'Math.abs(nowMs - this.#checkedAt) < tryIntervalMs',
    by: 'Math.abs(nowMs - this.#checkedAt) < 0',
  },
  {
    file: 'src/storage/recording-check.ts',
    ...recordingCheck,
    breaks: 'maintenance.checkRecording',
    what: 'a disk that became full is found only by the next try',
    text: '        this.#failure = error;\n        this.#committed = true;',
    by: '        this.#failure ??= error;\n        this.#committed = error === undefined;',
  },
  {
    file: `${postgres}/user-tables.ts`,
    ...stores('user tables'),
    breaks: 'users.run',
    what: 'the sign-in library is not told that a row is there already, on PostgreSQL',
    text: 'if (!isConflict(error)) throw error;',
    by: 'if (isConflict(error)) throw error;',
  },
  {
    file: `${sqlite}/user-tables.ts`,
    ...stores('user tables'),
    breaks: 'users.run',
    what: 'a statement with rows to return changes none',
    text: 'return { rows, changes: rows.length };',
    by: 'return { rows, changes: 0 };',
  },
  {
    file: `${sql}/corrections/restoring.ts`,
    ...corrections,
    breaks: 'corrections.restoreChanges',
    what: 'a correction is noted of a query each time that it is restored',
    text: '|| known.has(`${correction} ${id}`)) continue;',
    by: ') continue;',
  },
  {
    file: `${sql}/corrections/restoring.ts`,
    ...queries,
    breaks: 'corrections.restoreChanges',
    what: 'a query that no correction has withdrawn counts again when it is restored',
    text: 'isWithdrawn: state.isWithdrawn || isWithdrawn });',
    by: 'isWithdrawn: state.isWithdrawn });',
  },
  {
    file: `${sql}/corrections/restoring.ts`,
    ...corrections,
    breaks: 'corrections.restoreWithdrawals',
    what: 'a restored count that is withdrawn counts on',
    text: 'const sign = Number(by === null) - Number(row.withdrawnBy === null);',
    by: 'const sign = Number(by === null && row.withdrawnBy !== null);',
  },
  {
    file: `${sql}/corrections/restoring.ts`,
    ...corrections,
    breaks: 'corrections.restoreWithdrawals',
    what: 'a restored count has only the last correction that has withdrawn it',
    text: '? [...withdrawals.map((id) => numbers.get(id)), by]',
    by: '? [by]',
  },
  {
    ...messages,
    breaks: 'notifications.reseal',
    what: 'a destination that has changed meanwhile is replaced by the older one',
    text: 'SET destination = $3 WHERE id = $1 AND destination = $2`',
    by: 'SET destination = $3 WHERE id = $1 AND $2 = $2`',
  },
  {
    ...notifications,
    breaks: 'notifications.findDue',
    what: 'a check that is overdue for long waits for later ones',
    text: 'ORDER BY check_at, id LIMIT $2`',
    by: 'ORDER BY id LIMIT $2`',
  },
  {
    ...ingestion,
    breaks: 'ingestion.prune',
    what: 'refusals are removed with the counts of their bucket',
    text: '[this.#counts, key, `NOT ${IS_REFUSAL} AND bucket`, bucketsBefore]',
    by: "[this.#counts, key, 'bucket', bucketsBefore]",
  },
];
