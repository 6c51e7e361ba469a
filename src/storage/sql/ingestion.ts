/** What arrives, counted by source, for every SQL database. Each change is one transaction. */
import {
  addOperations,
  COUNT_NAMES,
  type IngestionCounts,
  NO_COUNTS,
  type Source,
  type SourceBucket,
  SourceNames,
  type SourceTotals,
  sourceKey,
} from '../../domain/ingestion/source-counts.js';
import { operationsMax } from '../../domain/limits.js';
import type { Ingestion, SeenSource } from '../ports/ingestion.js';
import { SqlTables } from './tables.js';

/** The operation of the rows with the sums of a source. */
const ALL = '';

/** They change nothing, so they need no transaction and do not wait for those that do. */
export const INGESTION_READS: readonly (keyof Ingestion)[] = ['listSources', 'sum'];

type CountRow = Source & IngestionCounts & { readonly operation: string };

export class SqlIngestion extends SqlTables implements Ingestion {
  readonly #counts = this.table('ingestion_count');
  readonly #sources = this.table('ingestion_source');
  readonly #project = this.dialect.projectColumn;

  async add(projectId: string, buckets: readonly SourceBucket[]): Promise<void> {
    const project = await this.dialect.findProjectKey(this.session, projectId);
    const known = await this.session.all<Source>(
      `SELECT kind, name FROM ${this.#sources} WHERE ${this.#project} = $1`,
      [project],
    );
    const names = new SourceNames(known);
    // Sorted, so that two transactions cannot wait for each other.
    const sorted = buckets.map((one) => names.bound(one)).toSorted(byKey);
    for (const one of sorted) {
      await this.session.run(
        `INSERT INTO ${this.#sources} AS kept (${this.#project}, kind, name, seen_at) VALUES ($1, $2, $3, $4)
         ON CONFLICT (${this.#project}, kind, name) DO UPDATE SET seen_at = excluded.seen_at
         WHERE excluded.seen_at > kept.seen_at`,
        [project, one.kind, one.name, one.seenAt],
      );
    }
    for (const one of sorted) await this.#addBucket(project, one);
  }

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
       WHERE ${this.#project} = $1 AND bucket >= $2
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

  async prune(bucketsBefore: number, seenBefore: number): Promise<void> {
    await this.session.run(`DELETE FROM ${this.#counts} WHERE bucket < $1`, [bucketsBefore]);
    await this.session.run(`DELETE FROM ${this.#sources} WHERE seen_at < $1`, [seenBefore]);
  }

  async #addBucket(
    project: unknown,
    { bucket, kind, name, counts, operations }: SourceBucket,
  ): Promise<void> {
    const source = [project, bucket, kind, name];
    await this.#addRow([...source, ALL], counts);
    if (operations.size === 0) return;
    const rows = await this.session.all<Pick<CountRow, 'operation'>>(
      `SELECT operation FROM ${this.#counts}
       WHERE ${this.#project} = $1 AND bucket = $2 AND kind = $3 AND name = $4 AND operation <> '${ALL}'`,
      source,
    );
    const known = new Set(rows.map(({ operation }) => operation));
    for (const [operation, unmatched] of [...operations].toSorted()) {
      if (!known.has(operation) && known.size >= operationsMax) continue;
      known.add(operation);
      await this.#addRow([...source, operation], { ...NO_COUNTS, unmatched });
    }
  }

  async #addRow(key: readonly unknown[], counts: IngestionCounts): Promise<void> {
    const columns = [this.#project, 'bucket', 'kind', 'name', 'operation'];
    const all = [...columns, ...COUNT_NAMES];
    await this.session.run(
      `INSERT INTO ${this.#counts} AS kept (${all.join(', ')}) VALUES (${all.map((_, at) => `$${at + 1}`).join(', ')})
       ON CONFLICT (${columns.join(', ')}) DO UPDATE SET
         ${COUNT_NAMES.map((name) => `${name} = kept.${name} + excluded.${name}`).join(', ')}`,
      [...key, ...COUNT_NAMES.map((name) => counts[name])],
    );
  }
}

function byKey(one: SourceBucket, other: SourceBucket): number {
  const [a, b] = [one, other].map((source) => `${sourceKey(source)} ${source.bucket}`);
  return (a ?? '') < (b ?? '') ? -1 : 1;
}
