/** Reads on the main thread, each of which takes microseconds: access, queries, counters and checks. */
import { ALL_TIME, type DateRange } from '../../domain/counting/date-range.js';
import type { CutSpan, ImportedCount } from '../../domain/counting/imported-count.js';
import type { ImportRange } from '../../domain/history/import-range.js';
import type { ApiKey } from '../../domain/keys/api-key.js';
import { pageCorrectionsMax } from '../../domain/limits.js';
import { needsRetention } from '../../domain/projects/retention.js';
import {
  type Corrected,
  knownReceipt,
  type Receipt,
  type RecordedQuery,
} from '../../domain/queries/receipt.js';
import { dayMs } from '../../domain/time/duration.js';
import { BoundedCache } from '../../shared/bounded-cache.js';
import type { RecordedCount } from '../ports/counts.js';
import type { Access } from '../ports/directory.js';
import type { StorePart } from '../ports/store-stats.js';
import { type CountRow, type NotedRow, toRecordedCount, toRecordedQuery } from '../sql/received-rows.js';
import { KEY, PROJECT } from '../sql/rows.js';
import type { Connection } from './connection.js';
import { CounterReader } from './counters/counter-reader.js';
import { ReadSnapshot } from './counters/read-snapshot.js';
import { VersionedCache } from './counters/versioned-cache.js';
import { prepareVersionCheck } from './migrations/migrate.js';
import { decodeQueryId, encodeQueryId, idText, readIdText } from './query-id.js';
import { selectCounts } from './query-rows.js';
import { RETENTIONS, type Retention } from './retentions.js';
import { Statements } from './statements.js';

/** More than are in use: keys, and projects for each. */
const keysMax = 10_000;
const projectsMax = 1_000;

const FIND_KEY = `SELECT ${KEY.select()} FROM api_key WHERE hash = $1`;

const FIND_PROJECT = `SELECT ${PROJECT.select()} FROM project WHERE id = $1 AND organization_id = $2`;

const FIND_DELETED = 'SELECT 1 FROM deleted_project LIMIT 1';

/**
 * A page as one text: the driver makes values one by one, which takes three times as long. Few of its rows have different callers
 * or receipts, so that looking these up afterwards takes less than a join. It has one query at least, if there are more: in databases of
 * earlier versions, corrections of queries that retention has removed lie between.
 */
const READ_QUERIES = `SELECT json_group_array(json_array(${idText('id')}, occurred_at, caller, receipt)) AS page FROM (
    SELECT * FROM query WHERE project = (SELECT number FROM project WHERE id = $1) AND id > $2 AND id <= max(
      (SELECT id FROM query WHERE project = (SELECT number FROM project WHERE id = $1) AND id > $2 ORDER BY id LIMIT 1),
      coalesce(
        (SELECT id FROM corrected_query INDEXED BY corrected_query_by_id
          WHERE project = (SELECT number FROM project WHERE id = $1) AND id > $2 ORDER BY id LIMIT 1 OFFSET ${pageCorrectionsMax}),
        x'${'ff'.repeat(17)}'
      )
    ) ORDER BY id LIMIT $3
  )`;

const FIND_CALLERS = 'SELECT number, name FROM caller WHERE number IN (SELECT value FROM json_each($1))';

const FIND_RECEIPTS = `SELECT number, day, sender FROM receipt
  WHERE project = (SELECT number FROM project WHERE id = $1) AND number IN (SELECT value FROM json_each($2))`;

/** The changes of each query as one text, as of a page. */
const READ_CHANGES = `SELECT id, json_group_array(json_array(correction, caller)) AS changes
  FROM corrected_query INDEXED BY corrected_query_by_id
  WHERE project = (SELECT number FROM project WHERE id = $1) AND id > $2 AND id <= $3 GROUP BY id`;

const READ_NOTED = `SELECT id, day, name AS caller, is_withdrawn AS "isWithdrawn", is_corrected AS "isCorrected"
  FROM late_change JOIN caller ON number = late_change.caller
  WHERE project = (SELECT number FROM project WHERE id = $1) AND id > $2 AND id <= $3`;

const READ_IMPORTED_COUNTS = selectCounts('(SELECT number FROM project WHERE id = $1)');

/** See `reachesBack`. */
const LIST_IMPORTS = `SELECT day, sender, first_at AS "first", last_at AS "last" FROM import_range
  WHERE project = (SELECT number FROM project WHERE id = $1) AND first_at < (day - 1) * ${dayMs}
  ORDER BY day DESC, sender LIMIT $2`;

/** $4 to $6 are the last span of the page before. */
const READ_SPANS = `SELECT source, caller, start_at AS start, end_at AS "end",
    CASE WHEN withdrawn_by IS NULL THEN queries ELSE 0 END AS count
  FROM imported_count
  WHERE project = (SELECT number FROM project WHERE id = $1) AND start_at >= max($2, $4) AND start_at < $3
    AND (start_at, source, caller) > ($4, $5, $6)
  ORDER BY start_at, source, caller LIMIT $7`;

const FIND_FIRST_PROJECT = 'SELECT id FROM project ORDER BY number LIMIT 1';

interface FoundKey {
  readonly key: ApiKey;
  /** By the id of the project that was asked for. */
  readonly accesses: BoundedCache<string, Access>;
}

type StoredId = string | Uint8Array;

type PageRow = readonly [id: string, occurredAt: number, caller: number, receipt: number | null];

type Change = Corrected['changes'][number];

/** An imported span, and where it lies among others. */
export interface SpanRow extends CutSpan {
  readonly source: string;
  readonly caller: number;
}

type ChangeRow = readonly [correction: number, caller: number];

export class Reader {
  readonly counters: CounterReader;
  readonly snapshot: ReadSnapshot;
  readonly statements: Statements;
  readonly db: Connection;
  /** Unknown keys are cached as well, and take the same time. */
  readonly #keys: VersionedCache<FoundKey | undefined>;
  readonly #requireNewest: () => void;

  constructor(db: Connection) {
    this.db = db;
    this.statements = new Statements(db);
    // Prepared now, so that opening a file without one of the tables fails.
    for (const sql of [
      FIND_KEY,
      FIND_PROJECT,
      FIND_DELETED,
      RETENTIONS,
      READ_QUERIES,
      FIND_CALLERS,
      FIND_RECEIPTS,
      READ_CHANGES,
      READ_NOTED,
      READ_IMPORTED_COUNTS,
      LIST_IMPORTS,
      READ_SPANS,
      FIND_FIRST_PROJECT,
    ])
      this.statements.prepare(sql);
    this.snapshot = new ReadSnapshot(db);
    this.counters = new CounterReader(db, this.snapshot);
    this.#keys = new VersionedCache(this.snapshot, keysMax);
    this.#requireNewest = prepareVersionCheck(db);
  }

  hasRetentionToApply(nowMs: number): boolean {
    return this.statements.all<Retention>(RETENTIONS).some((one) => needsRetention(one, nowMs));
  }

  hasDeleted(): boolean {
    return this.statements.get(FIND_DELETED) !== undefined;
  }

  /** See `Directory.findAccess`. */
  findAccess(keyHash: string, projectId: string): Access | undefined {
    return this.snapshot.run(() => {
      const found = this.#keys.get(keyHash, () => {
        this.#requireNewest();
        const row = this.statements.get(FIND_KEY, [keyHash]);
        return row && { key: KEY.read(row), accesses: new BoundedCache<string, Access>(projectsMax) };
      });
      return found?.accesses.getOrCreate(projectId, () => {
        const { key } = found;
        const row = this.statements.get(FIND_PROJECT, [projectId, key.organizationId]);
        return { key, project: row && PROJECT.read(row) };
      });
    });
  }

  /** See `CountStore.readQueries`. */
  readQueries(projectId: string, afterId: string | undefined, limit: number): RecordedQuery[] {
    // Texts sort before blobs, so '' comes before every id.
    const after = afterId === undefined ? '' : encodeQueryId(afterId);
    return this.snapshot.run(() => {
      const found = this.statements.get<{ readonly page: string }>(READ_QUERIES, [projectId, after, limit]);
      const rows: readonly PageRow[] = JSON.parse(found?.page ?? '[]');
      const [last] = rows.at(-1) ?? [];
      if (last === undefined) return [];
      const page = [projectId, after, encodeQueryId(readIdText(last))];
      const changes = this.#readChanges(page);
      const callers = this.#findCallers([
        ...rows.map(([, , caller]) => toCallerNumber(caller)),
        ...[...changes.values()].flatMap((ofQuery) => ofQuery.map(([, caller]) => caller)),
      ]);
      const nameOf = (number: number): string => {
        const caller = callers.get(number);
        if (caller === undefined) throw new Error('Invariant violated: a recorded query has a caller.');
        return caller;
      };
      const receipts = this.#findReceipts(
        projectId,
        rows.map(([, , , receipt]) => receipt),
      );
      const noted = this.#readNoted(page);
      return rows.map(([text, occurredAt, number, receiptNumber]) => {
        const id = readIdText(text);
        const receipt = receiptNumber === null ? null : (receipts.get(receiptNumber) ?? null);
        const query = { id, caller: nameOf(toCallerNumber(number)), occurredAt, receipt };
        const ofQuery = changes
          .get(id)
          ?.map(([correction, caller]): Change => ({ correction, caller: nameOf(caller) }));
        return toRecordedQuery(query, number < 0, ofQuery, noted.get(id));
      });
    });
  }

  #findCallers(numbers: readonly number[]): ReadonlyMap<number, string> {
    type Found = { readonly number: number; readonly name: string };
    const distinct = JSON.stringify([...new Set(numbers)]);
    return new Map(
      this.statements.all<Found>(FIND_CALLERS, [distinct]).map(({ number, name }) => [number, name]),
    );
  }

  #findReceipts(projectId: string, numbers: readonly (number | null)[]): ReadonlyMap<number, Receipt | null> {
    type Found = Receipt & { readonly number: number };
    const distinct = JSON.stringify([...new Set(numbers)]);
    const rows = this.statements.all<Found>(FIND_RECEIPTS, [projectId, distinct]);
    return new Map(rows.map(({ number, ...receipt }) => [number, knownReceipt(receipt)]));
  }

  /** The changes of queries in their order, by id. */
  #readChanges(page: readonly unknown[]): ReadonlyMap<string, readonly ChangeRow[]> {
    type Found = { readonly id: StoredId; readonly changes: string };
    return new Map(
      this.statements.all<Found>(READ_CHANGES, page).map(({ id, changes }) => {
        const rows: ChangeRow[] = JSON.parse(changes);
        return [decodeQueryId(id), rows.sort(([a], [b]) => a - b)];
      }),
    );
  }

  /** What is noted of queries, by id. */
  #readNoted(page: readonly unknown[]): ReadonlyMap<string, readonly NotedRow[]> {
    type Found = NotedRow & { readonly id: StoredId };
    const found = new Map<string, NotedRow[]>();
    for (const { id, ...row } of this.statements.all<Found>(READ_NOTED, page)) {
      const key = decodeQueryId(id);
      const earlier = found.get(key);
      if (earlier === undefined) found.set(key, [row]);
      else earlier.push(row);
    }
    return found;
  }

  /** See `CountStore.readImportedCounts`. */
  readImportedCounts(projectId: string, after: ImportedCount | undefined, limit: number): RecordedCount[] {
    const { source = '', caller = '', start = Number.MIN_SAFE_INTEGER } = after ?? {};
    const values = [projectId, source, caller, start, limit];
    return this.statements.all<CountRow>(READ_IMPORTED_COUNTS, values).map(toRecordedCount);
  }

  /** See `CountStore.listImports`. */
  listImports(projectId: string, limit: number): ImportRange[] {
    return this.statements.all<ImportRange>(LIST_IMPORTS, [projectId, limit]);
  }

  /** A page of the imported spans that begin in a range, by their starts; those that are withdrawn have no queries. */
  readSpans(
    projectId: string,
    { from, to }: DateRange,
    after: SpanRow | undefined,
    limit: number,
  ): SpanRow[] {
    const { start = Number.MIN_SAFE_INTEGER, source = '', caller = -1 } = after ?? {};
    return this.statements.all<SpanRow>(READ_SPANS, [projectId, from, to, start, source, caller, limit]);
  }

  /** See `Maintenance.check`. */
  check(part: StorePart): void {
    switch (part) {
      case 'database':
        this.#firstProjectId();
        break;
      case 'schema':
        this.#requireNewest();
        break;
      case 'counts':
        // If there is no project, counts an unknown one with the same statement.
        this.counters.countUncached(this.#firstProjectId() ?? '', ALL_TIME);
        break;
      default:
        part satisfies never;
    }
  }

  #firstProjectId(): string | undefined {
    return this.statements.get<{ readonly id: string }>(FIND_FIRST_PROJECT)?.id;
  }
}

/** Withdrawn queries have the number `-1 - number`. */
function toCallerNumber(number: number): number {
  return number < 0 ? -1 - number : number;
}
