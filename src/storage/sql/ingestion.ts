/** What arrives, counted by source, for every SQL database. */
import { CallerStatsError } from '../../domain/errors.js';
import { isRefusalReason } from '../../domain/ingestion/refusals.js';
import {
  addOperations,
  COUNT_NAMES,
  hasRoomFor,
  type IngestionCounts,
  IngestionTally,
  NO_COUNTS,
  type Refusal,
  type Source,
  type SourceBucket,
  type SourceTotals,
  sourceKey,
} from '../../domain/ingestion/source-counts.js';
import type {
  Horizon,
  IngestionChanges,
  IngestionReads,
  KeptRefusal,
  ProjectIdentity,
  SeenSource,
} from '../ports/ingestion.js';
import type { Cleanup } from '../ports/maintenance.js';
import { PROJECT } from './rows.js';
import { SqlTables } from './tables.js';

/** The operation of the rows with the sums of a source. */
const ALL = '';

/**
 * The operation of the rows with the refusals of a source begins with this, which no operation does: `!key-expired k1`. They
 * are kept as long as the source, and have the refused requests and rejected records.
 */
const REFUSAL = '!';
const IS_REFUSAL = `(operation >= '${REFUSAL}' AND operation < '"')`;

function refusalName({ reason, keyId }: Pick<Refusal, 'reason' | 'keyId'>): string {
  return `${REFUSAL}${reason} ${keyId ?? ''}`;
}

type CountRow = Source & IngestionCounts & { readonly operation: string };

/** They need no transaction, and do not wait for changes. */
export class SqlIngestionReads extends SqlTables implements IngestionReads {
  readonly #counts = this.table('ingestion_count');
  readonly #sources = this.table('ingestion_source');
  readonly #project = this.dialect.projectColumn;

  async listSources(projectId: string): Promise<SeenSource[]> {
    const project = await this.dialect.findProjectKey(this.session, projectId);
    return this.session.all<SeenSource>(
      `SELECT kind, name, seen_at AS "seenAt" FROM ${this.#sources} WHERE ${this.#project} = $1 ORDER BY kind, name`,
      [project],
    );
  }

  async sum(projectId: string, from: number): Promise<SourceTotals[]> {
    const project = await this.dialect.findProjectKey(this.session, projectId);
    const sums = COUNT_NAMES.map((name) => `CAST(sum(${name}) AS bigint) AS "${name}"`).join(', ');
    const rows = await this.session.all<CountRow>(
      `SELECT kind, name, operation, ${sums} FROM ${this.#counts}
       WHERE ${this.#project} = $1 AND bucket >= $2 AND NOT ${IS_REFUSAL}
       GROUP BY kind, name, operation ORDER BY kind, name, sum(unmatched) DESC, operation`,
      [project, from],
    );
    const totals = new Map<string, SourceTotals & { readonly operations: Map<string, number> }>();
    for (const { kind, name, operation, ...counts } of rows) {
      const key = sourceKey({ kind, name });
      const before = totals.get(key) ?? {
        kind,
        name,
        counts: NO_COUNTS,
        operations: new Map<string, number>(),
      };
      if (operation === ALL) totals.set(key, { ...before, counts });
      else {
        addOperations(before.operations, new Map([[operation, counts.unmatched]]));
        totals.set(key, before);
      }
    }
    return [...totals.values()];
  }

  async listRefusals(projectId: string): Promise<KeptRefusal[]> {
    const project = await this.dialect.findProjectKey(this.session, projectId);
    const rows = await this.session.all<
      Source & Pick<KeptRefusal, 'requests' | 'records' | 'bucket'> & { readonly operation: string }
    >(
      `SELECT kind, name, operation, CAST(sum(refused) AS bigint) AS requests,
         CAST(sum(rejected) AS bigint) AS records, max(bucket) AS bucket
       FROM ${this.#counts} WHERE ${this.#project} = $1 AND ${IS_REFUSAL}
       GROUP BY kind, name, operation ORDER BY max(bucket) DESC, kind, name, operation`,
      [project],
    );
    return rows.flatMap(({ operation, ...row }) => {
      const [reason = '', keyId = ''] = operation.slice(REFUSAL.length).split(' ');
      // A newer server may have written others.
      return isRefusalReason(reason) ? [{ ...row, reason, keyId: keyId || null }] : [];
    });
  }

  async listOutdated({ bucketsBefore, seenBefore }: Horizon): Promise<string[]> {
    const ids = new Set<string>();
    for (const [table, isOld, before] of [
      [this.#counts, `bucket < $1 AND NOT ${IS_REFUSAL}`, bucketsBefore],
      [this.#counts, `bucket < $1 AND ${IS_REFUSAL}`, seenBefore],
      [this.#sources, 'seen_at < $1', seenBefore],
    ]) {
      const rows = await this.session.all<{ readonly id: string }>(
        `SELECT id FROM ${this.table('project')} AS project WHERE EXISTS (
           SELECT 1 FROM ${table} AS kept WHERE kept.${this.#project} = project.${this.dialect.projectKeyColumn} AND ${isOld}
         ) ${this.dialect.andNotDeleted}`,
        [before],
      );
      for (const { id } of rows) ids.add(id);
    }
    return [...ids];
  }
}

/** Each method is one transaction. */
export class SqlIngestionChanges extends SqlTables implements IngestionChanges {
  readonly #counts = this.table('ingestion_count');
  readonly #sources = this.table('ingestion_source');
  readonly #project = this.dialect.projectColumn;

  async add(
    projectId: string,
    buckets: readonly SourceBucket[],
    identity: ProjectIdentity = {},
  ): Promise<void> {
    const project = await this.dialect.findProjectKey(this.session, projectId);
    await this.#requireIdentity(projectId, identity);
    const known = await this.session.all<Source>(
      `SELECT kind, name FROM ${this.#sources} WHERE ${this.#project} = $1`,
      [project],
    );
    const tally = new IngestionTally(known);
    tally.addBuckets(buckets);
    // Sorted, so that two transactions cannot wait for each other.
    const sorted = tally.list().toSorted(byKey);
    // First, because this locks the sources: of two transactions, the second one sees the operations of the first.
    await this.#noteSeen(project, sorted);
    await this.#addCounts(project, sorted);
  }

  async prune(projectId: string, { bucketsBefore, seenBefore }: Horizon, limit: number): Promise<Cleanup> {
    const project = await this.dialect.findProjectKey(this.session, projectId);
    const removeFirst = (
      [table, key, condition, before]: readonly [string, string, string, number],
      rows: number,
    ) =>
      this.session.run(
        `DELETE FROM ${table} WHERE ${this.#project} = $1 AND (${key}) IN (
           SELECT ${key} FROM ${table} WHERE ${this.#project} = $1 AND ${condition} < $2
           ORDER BY ${key} LIMIT $3 ${this.dialect.lock('UPDATE SKIP LOCKED')})`,
        [project, before, rows],
      );
    const key = 'bucket, kind, name, operation';
    const steps = [
      [this.#counts, key, `NOT ${IS_REFUSAL} AND bucket`, bucketsBefore],
      [this.#counts, key, `${IS_REFUSAL} AND bucket`, seenBefore],
      [this.#sources, 'kind, name', 'seen_at', seenBefore],
    ] as const;
    let removed = 0;
    for (const step of steps) {
      if (removed < limit) removed += await removeFirst(step, limit - removed);
    }
    return { removed, done: removed < limit };
  }

  async #requireIdentity(projectId: string, wanted: ProjectIdentity): Promise<void> {
    const found = await this.find(PROJECT, 'WHERE id = $1', [projectId]);
    const { createdAt = found?.createdAt, organizationId = found?.organizationId } = wanted;
    if (found?.createdAt === createdAt && found?.organizationId === organizationId) return;
    throw new CallerStatsError('not_found', `The project ${projectId} was deleted and created again.`);
  }

  async #noteSeen(project: unknown, buckets: readonly SourceBucket[]): Promise<void> {
    const seen = new Map<string, SourceBucket>();
    for (const one of buckets) {
      const before = seen.get(sourceKey(one));
      if (before === undefined || before.seenAt < one.seenAt) seen.set(sourceKey(one), one);
    }
    await this.insert(
      `${this.#sources} AS kept (${this.#project}, kind, name, seen_at)`,
      [...seen.values()].map(({ kind, name, seenAt }) => [project, kind, name, seenAt]),
      `ON CONFLICT (${this.#project}, kind, name) DO UPDATE SET seen_at = excluded.seen_at
       WHERE excluded.seen_at > kept.seen_at`,
    );
  }

  async #addCounts(project: unknown, buckets: readonly SourceBucket[]): Promise<void> {
    const known = await this.#findOperations(project, buckets);
    const rows = buckets.flatMap(({ bucket, kind, name, counts, operations, refusals = [] }) => {
      const named = known.get(bucketKey({ bucket, kind, name })) ?? new Set();
      const added = [...operations].toSorted().filter(([operation]) => {
        const isNamed = named.has(operation) || hasRoomFor(operation, named);
        if (isNamed) named.add(operation);
        return isNamed;
      });
      const toRow = (operation: string, all: IngestionCounts) => [
        ...[project, bucket, kind, name, operation],
        ...COUNT_NAMES.map((one) => all[one]),
      ];
      return [
        toRow(ALL, counts),
        ...added.map(([operation, unmatched]) => toRow(operation, { ...NO_COUNTS, unmatched })),
        ...refusals.map((one) =>
          toRow(refusalName(one), { ...NO_COUNTS, refused: one.requests, rejected: one.records }),
        ),
      ];
    });
    const key = `${this.#project}, bucket, kind, name, operation`;
    await this.insert(
      `${this.#counts} AS kept (${key}, ${COUNT_NAMES.join(', ')})`,
      rows,
      `ON CONFLICT (${key}) DO UPDATE SET
         ${COUNT_NAMES.map((name) => `${name} = kept.${name} + excluded.${name}`).join(', ')}`,
    );
  }

  /** The operations that are stored in these buckets. */
  async #findOperations(
    project: unknown,
    buckets: readonly SourceBucket[],
  ): Promise<Map<string, Set<string>>> {
    const found = new Map<string, Set<string>>();
    const withOperations = buckets.filter(({ operations }) => operations.size > 0);
    if (withOperations.length === 0) return found;
    const first = Math.min(...withOperations.map(({ bucket }) => bucket));
    const rows = await this.session.all<BucketName & Pick<CountRow, 'operation'>>(
      `SELECT bucket, kind, name, operation FROM ${this.#counts}
       WHERE ${this.#project} = $1 AND bucket >= $2 AND operation <> '${ALL}' AND NOT ${IS_REFUSAL}`,
      [project, first],
    );
    for (const { operation, ...bucket } of rows) {
      const named = found.get(bucketKey(bucket)) ?? new Set();
      found.set(bucketKey(bucket), named.add(operation));
    }
    return found;
  }
}

type BucketName = Source & Pick<SourceBucket, 'bucket'>;

function bucketKey({ bucket, ...source }: BucketName): string {
  return `${bucket} ${sourceKey(source)}`;
}

function byKey(one: SourceBucket, other: SourceBucket): number {
  const [a, b] = [one, other].map((source) => `${sourceKey(source)} ${source.bucket}`);
  return (a ?? '') < (b ?? '') ? -1 : 1;
}
