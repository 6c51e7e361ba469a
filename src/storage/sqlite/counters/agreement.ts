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
    let sums = new LevelSums();
    const recount = (timeMs: number, caller: number, queries = 1): void => {
      sums.types.add(timeMs, Math.min(caller, TYPE_INDEX.other), -queries);
      if (caller >= TYPE_INDEX.other) sums.callers.add(timeMs, caller, -queries);
    };
    readQueries([project, fromMs], recount);
    readImported([project, fromMs], recount);
    for (const level of BUCKET_WIDTHS_MS.keys()) {
      // Each level is compared with the next narrower one, which has been found right.
      const wider = new LevelSums();
      const ratio = (BUCKET_WIDTHS_MS[level + 1] ?? Number.POSITIVE_INFINITY) / bucketWidthMs(level);
      const { types, callers } = sums;
      const isRecounted = (bucket: number) => level > 0 || bucket >= firstBucket;
      const noteTypes = (bucket: number, web: number, api: number, other: number): void => {
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
      };
      const noteCallers = (bucket: number, caller: number, queries: number): void => {
        if (isRecounted(bucket)) callers.add(bucket, caller, queries);
        else types.add(bucket, TYPE_INDEX.other, -queries);
        wider.callers.add(Math.floor(bucket / ratio), caller, -queries);
      };
      readTypes([project, level], noteTypes);
      readCallers([project, level], noteCallers);
      const noteKept = (timeMs: number, caller: number): void => {
        const bucket = bucketAt(timeMs, level);
        const one = (type: number) => Number(Math.min(caller, TYPE_INDEX.other) === type);
        noteTypes(bucket, one(TYPE_INDEX.web), one(TYPE_INDEX.api), one(TYPE_INDEX.other));
        if (caller >= TYPE_INDEX.other) noteCallers(bucket, caller, 1);
      };
      for (const kept of KEPT_LEVELS.filter((one) => one > level))
        for (const [bucket, queries] of readKept.iterate(project, kept))
          readMoments(kept, bucket, queries, noteKept);
      if (!types.isZero || !callers.isZero) return false;
      sums = wider;
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
