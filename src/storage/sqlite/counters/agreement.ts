/** Tells whether counters agree with a recount, in one pass without a sort: the rows of queries are in the order of their ids. */
import { BUCKET_WIDTHS_MS, bucketAt, bucketWidthMs } from '../../../domain/counting/buckets.js';
import { planVerification } from '../../../domain/counting/verification.js';
import type { Connection } from '../connection.js';
import { prepareArrays } from '../statements.js';
import { TYPE_INDEX } from './counter-deltas.js';
import type { Scope } from './differences.js';
import { KeyedSum } from './keyed-sum.js';
import { KEPT_LEVELS, readMoments } from './moments.js';

/** Takes the values of a row. A rest parameter would cost an array for each. */
type Note = (first: number, second: number, third: number, fourth: number) => void;

/** Reads all rows of a statement with these parameters. */
type ReadAll = (parameters: readonly number[], note: Note) => void;

/** The counters of a level less their recount. */
class LevelSums {
  readonly types = new KeyedSum();
  readonly callers = new KeyedSum();

  add(bucket: number, caller: number, queries: number): void {
    this.types.add(bucket, Math.min(caller, TYPE_INDEX.other), queries);
    if (caller >= TYPE_INDEX.other) this.callers.add(bucket, caller, queries);
  }
}

/**
 * Prepares a function that says whether `prepareDifferences` would find none. It takes about a second for a million queries, whatever
 * their order, and neither memory nor space on disk.
 */
export function prepareAgreement(db: Connection): (scope: Scope) => boolean {
  const prepareRead = prepareReads(db);
  const readQueries = prepareRead(
    'occurred_at, caller',
    'query WHERE project = ? AND caller >= 0 AND occurred_at >= ?',
  );
  const readImported = prepareRead(
    'start_at, caller, queries',
    'imported_count WHERE project = ? AND caller >= 0 AND start_at >= ? AND withdrawn_by IS NULL',
  );
  const readTypes = prepareRead('bucket, web, api, other', 'query_counter WHERE project = ? AND level = ?');
  const readCallers = prepareRead(
    'bucket, caller, queries',
    'caller_counter WHERE project = ? AND level = ?',
  );
  const readKept = prepareArrays<readonly [bucket: number, queries: Uint8Array]>(
    db,
    'SELECT bucket, queries FROM moment WHERE project = ? AND level = ?',
  );

  return ({ project, rowsFrom }) => {
    const { firstBucket, fromMs } = planVerification(0, rowsFrom);
    const levels = BUCKET_WIDTHS_MS.map(() => new LevelSums());
    const sumsOf = (level: number): LevelSums => levels[level] ?? new LevelSums();
    const narrowest = sumsOf(0);
    const recount = (timeMs: number, caller: number, queries = 1): void =>
      narrowest.add(timeMs, caller, -queries);
    readQueries([project, fromMs], recount);
    readImported([project, fromMs], recount);
    // A kept query is in the narrowest counters, and in those that the level of its bucket is compared with. The levels in between
    // would add it and take it away again.
    for (const level of KEPT_LEVELS) {
      const kept = sumsOf(level);
      const noteKept = (timeMs: number, caller: number): void => {
        if (timeMs >= firstBucket) narrowest.add(timeMs, caller, 1);
        kept.add(bucketAt(timeMs, level), caller, -1);
      };
      for (const [bucket, queries] of readKept.iterate(project, level))
        readMoments(level, bucket, queries, noteKept);
    }
    for (const level of BUCKET_WIDTHS_MS.keys()) {
      // Each level is compared with the next narrower one, which has been found right.
      const { types, callers } = sumsOf(level);
      const wider = sumsOf(level + 1);
      const ratio = (BUCKET_WIDTHS_MS[level + 1] ?? Number.POSITIVE_INFINITY) / bucketWidthMs(level);
      const isRecounted = (bucket: number) => level > 0 || bucket >= firstBucket;
      readTypes([project, level], (bucket, web, api, other) => {
        const widerBucket = Math.floor(bucket / ratio);
        // Where rows are gone, those of type other are compared with those by caller, and the others with nothing.
        if (isRecounted(bucket)) {
          types.add(bucket, TYPE_INDEX.web, web);
          types.add(bucket, TYPE_INDEX.api, api);
        }
        types.add(bucket, TYPE_INDEX.other, other);
        wider.types.add(widerBucket, TYPE_INDEX.web, -web);
        wider.types.add(widerBucket, TYPE_INDEX.api, -api);
        wider.types.add(widerBucket, TYPE_INDEX.other, -other);
      });
      readCallers([project, level], (bucket, caller, queries) => {
        if (isRecounted(bucket)) callers.add(bucket, caller, queries);
        else types.add(bucket, TYPE_INDEX.other, -queries);
        wider.callers.add(Math.floor(bucket / ratio), caller, -queries);
      });
      if (!types.isZero || !callers.isZero) return false;
    }
    return true;
  };
}

/** Rows are read by an aggregate function: returned to JavaScript one by one, they would take four times as long. */
function prepareReads(db: Connection): (columns: string, from: string) => ReadAll {
  const ignore: Note = () => {};
  let note = ignore;
  db.aggregate('note', {
    start: 0,
    varargs: true,
    step: (_, first: number, second: number, third: number, fourth: number) => {
      note(first, second, third, fourth);
      return 0;
    },
  });
  return (columns, from) => {
    const statement = db.prepare(`SELECT note(${columns}) FROM ${from}`);
    return (parameters, each) => {
      note = each;
      try {
        statement.get(...parameters);
      } finally {
        // The connection has the function, which would keep the statements of whoever reads, and so the files, open for ever.
        note = ignore;
      }
    };
  };
}
