import { describe, expect, test } from 'vitest';
import { commitQueriesMax, pendingOperationsMax, pendingQueriesMax } from '../../../src/domain/limits.js';
import type { Query } from '../../../src/domain/queries/query.js';
import type { ArrivingQuery } from '../../../src/domain/queries/receipt.js';
import { nextLoopTurn } from '../../../src/shared/fair-share.js';
import { encodeQueryId } from '../../../src/storage/postgres/query-id.js';
import { type RecordCall, Recorder } from '../../../src/storage/postgres/recorder.js';

/** A record function whose calls end when the test says so. */
function controlled() {
  const calls: RecordCall[] = [];
  const ends: { resolve: (duplicates: readonly number[] | null) => void; reject: (error: Error) => void }[] =
    [];
  const recorder = new Recorder((call) => {
    calls.push(call);
    return new Promise((resolve, reject) => ends.push({ resolve, reject }));
  });
  return {
    recorder,
    calls,
    record: (projectId: string, ...ids: string[]) => recorder.record(projectId, batchOf(...ids)),
    /** Ends a call, counted from 0 in the order in which they began. */
    end: async (at: number, how: readonly number[] | null | Error) => {
      if (how instanceof Error) ends[at]?.reject(how);
      else ends[at]?.resolve(how);
      await nextLoopTurn();
    },
  };
}

const batchOf = (...ids: string[]) => batch(ids.map((id) => query(id)));
const query = (id: string, more: Partial<Query> = {}): Query => ({
  id,
  caller: 'web',
  occurredAt: 1,
  ...more,
});
const outcome = (recorded: number, duplicates: number) => ({ recorded, duplicates });
const batch = (queries: readonly ArrivingQuery[], signal = new AbortController().signal) => ({
  queries,
  signal,
});

/** The array literal of the ids in a call. */
const idsAs = (...ids: string[]) => `{${ids.map((id) => `"\\\\x${encodeQueryId(id)}"`).join(',')}}`;

describe('the recorder', () => {
  test('passes on a lone batch in the next turn, by columns', async () => {
    const { recorder, calls, end } = controlled();
    const queries = [query('a', { caller: 'null', occurredAt: -5 }), query('b', { caller: 'sdk-python' })];
    const recorded = recorder.record('docs', batch(queries));
    expect(calls).toEqual([]);
    await nextLoopTurn();
    expect(calls).toEqual([
      {
        projectId: 'docs',
        ids: idsAs('a', 'b'),
        times: '{-5,1}',
        callers: '{"null","sdk-python"}',
        ...{ days: '{0}', senders: '{""}', receiptOf: '{1,1}' },
      },
    ]);
    await end(0, []);
    expect(await recorded).toEqual({ recorded: 2, duplicates: 0 });
  });

  test('passes on each receipt once, and the place of each of its queries', async () => {
    const { recorder, calls, end } = controlled();
    const key = { day: 1, sender: 'key:a' };
    const file = { day: -2, sender: 'import:"{a}\\b", null' };
    const first = recorder.record('docs', { ...batch([query('zero')]), receipt: key });
    await nextLoopTurn();
    const others = [
      recorder.record('docs', { ...batch([query('a'), { ...query('b'), receipt: file }]), receipt: key }),
      recorder.record('docs', batch([query('c')])),
      recorder.record('docs', { ...batch([query('a'), { ...query('d'), receipt: null }]), receipt: file }),
    ];
    await end(0, []);
    expect(calls[1]).toMatchObject({
      ids: idsAs('a', 'b', 'c', 'd'),
      // Of two queries, nobody knows how they arrived.
      days: '{1,-2,0}',
      senders: '{"key:a","import:\\"{a}\\\\b\\", null",""}',
      receiptOf: '{1,2,3,3}',
    });
    await end(1, []);
    await Promise.all([first, ...others]);
  });

  test('looks at the receipt of a batch once, however many queries it has', async () => {
    const { recorder, calls, end } = controlled();
    let reads = 0;
    const receipt = {
      day: 1,
      get sender() {
        reads++;
        return 'key:a';
      },
    };
    const queries = Array.from({ length: 100 }, (_, at) => query(`${at}`));
    const recorded = recorder.record('docs', { ...batch(queries), receipt });
    await nextLoopTurn();
    expect(calls[0]).toMatchObject({ days: '{1}', receiptOf: `{${Array(100).fill(1).join()}}` });
    // To find its place, and to write it.
    expect(reads).toBe(2);
    await end(0, []);
    await recorded;
  });

  test('combines batches that arrive in one turn, or during a call', async () => {
    const { record, calls, end } = controlled();
    const all = ['a', 'b'].map((id) => record('docs', id));
    await nextLoopTurn();
    expect(calls.map(({ ids }) => ids)).toEqual([idsAs('a', 'b')]);
    all.push(...['c', 'd'].map((id) => record('docs', id)));
    await end(0, []);
    expect(calls.map(({ ids }) => ids)).toEqual([idsAs('a', 'b'), idsAs('c', 'd')]);
    await end(1, []);
    expect(await Promise.all(all)).toEqual(Array(4).fill({ recorded: 1, duplicates: 0 }));
  });

  test('counts an id once, for the first batch and query with it', async () => {
    const { recorder, record, calls, end } = controlled();
    const first = record('docs', 'zero');
    await nextLoopTurn();
    const merged = [
      recorder.record('docs', batch([query('a'), query('a', { caller: 'api', occurredAt: 9 }), query('b')])),
      record('docs', 'b', 'c'),
      record('docs', 'a', 'b', 'c'),
      record('docs'),
    ];
    await end(0, []);
    expect(calls[1]).toEqual({
      projectId: 'docs',
      ids: idsAs('a', 'b', 'c'),
      times: '{1,1,1}',
      callers: '{"web","web","web"}',
      ...{ days: '{0}', senders: '{""}', receiptOf: '{1,1,1}' },
    });
    await end(1, []);
    expect(await first).toEqual({ recorded: 1, duplicates: 0 });
    expect(await Promise.all(merged)).toEqual([outcome(2, 1), outcome(1, 1), outcome(0, 3), outcome(0, 0)]);
  });

  test('counts duplicates in the database for the first batch with them', async () => {
    const { record, end } = controlled();
    const first = record('docs', 'a');
    await nextLoopTurn();
    const merged = [record('docs', 'a', 'b'), record('docs', 'c', 'a'), record('docs', 'd', 'e')];
    await end(0, [1]);
    // Places are those of the distinct ids: a, b, c, d, e.
    await end(1, [5, 1, 3]);
    expect(await first).toEqual({ recorded: 0, duplicates: 1 });
    expect(await Promise.all(merged)).toEqual([outcome(1, 1), outcome(0, 2), outcome(1, 1)]);
  });

  test('skips a batch that has timed out', async () => {
    const { recorder, record, calls, end } = controlled();
    const gone = new AbortController();
    const first = record('docs', 'zero');
    await nextLoopTurn();
    const left = recorder.record('docs', batch([query('a'), query('b')], gone.signal));
    const kept = record('docs', 'b', 'c');
    gone.abort();
    const refused = expect(left).rejects.toMatchObject({ code: 'unavailable' });
    await end(0, []);
    expect(calls[1]?.ids).toBe(idsAs('b', 'c'));
    await end(1, []);
    await refused;
    expect(await Promise.all([first, kept])).toEqual([outcome(1, 0), outcome(2, 0)]);
  });

  test('makes no call if every batch has timed out', async () => {
    const { recorder, record, calls, end } = controlled();
    const gone = AbortSignal.abort();
    const first = record('docs', 'zero');
    await nextLoopTurn();
    const left = Promise.allSettled([
      recorder.record('docs', batch([query('a')], gone)),
      recorder.record('docs', batch([query('b')], gone)),
    ]);
    await end(0, []);
    await first;
    expect((await left).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(calls).toHaveLength(1);
  });

  test('rejects all batches of a call for an unknown project', async () => {
    const { record, end } = controlled();
    const both = Promise.allSettled([record('nope', 'a'), record('nope', 'b')]);
    await nextLoopTurn();
    await end(0, null);
    const reason = { code: 'not_found', message: 'There is no project nope.' };
    expect(await both).toMatchObject([
      { status: 'rejected', reason },
      { status: 'rejected', reason },
    ]);
  });

  test('rejects all batches of a failed call with its error, and continues', async () => {
    const { record, end } = controlled();
    const first = record('docs', 'zero');
    await nextLoopTurn();
    const lost = Promise.allSettled([record('docs', 'a'), record('docs', 'b')]);
    await end(0, []);
    const later = record('docs', 'c');
    const error = new Error('disk full');
    await end(1, error);
    await end(2, []);
    expect(await lost).toEqual(Array(2).fill({ status: 'rejected', reason: error }));
    expect(await Promise.all([first, later])).toHaveLength(2);
  });
});

describe('projects', () => {
  test('do not wait for each other', async () => {
    const { record, calls, end } = controlled();
    const slow = [record('slow', 'a')];
    const quick = record('quick', 'c');
    await nextLoopTurn();
    slow.push(record('slow', 'b'));
    expect(calls.map(({ projectId }) => projectId)).toEqual(['slow', 'quick']);
    await end(1, []);
    expect(await quick).toEqual({ recorded: 1, duplicates: 0 });
    const again = record('quick', 'd');
    await nextLoopTurn();
    await end(2, []);
    expect(await again).toEqual({ recorded: 1, duplicates: 0 });
    expect(calls.map(({ projectId }) => projectId)).toEqual(['slow', 'quick', 'quick']);
    await end(0, []);
    await end(3, []);
    expect(await Promise.all(slow)).toHaveLength(2);
  });

  test('keep their order and batches, however many projects there are', async () => {
    const { recorder, record, calls, end } = controlled();
    const projects = Array.from({ length: 1100 }, (_, at) => `project-${at}`);
    const first = record('busy', 'a');
    const others = projects.map((id) => recorder.record(id, batchOf('x')));
    await nextLoopTurn();
    const second = record('busy', 'b');
    expect(calls).toHaveLength(1101);
    for (const at of projects.keys()) await end(at + 1, []);
    await Promise.all(others);
    // Idle queues are forgotten now; a busy one is not, or its next batch would be called beside the one under way.
    const more = projects.map((id) => recorder.record(id, batchOf('y')));
    const third = record('busy', 'c');
    await nextLoopTurn();
    expect(calls.filter(({ projectId }) => projectId === 'busy')).toHaveLength(1);
    await end(0, []);
    expect(calls.filter(({ projectId }) => projectId === 'busy').map(({ ids }) => ids)).toEqual([
      idsAs('a'),
      idsAs('b', 'c'),
    ]);
    for (let at = 1101; at < calls.length; at++) await end(at, []);
    expect(await Promise.all([first, second, third, ...more])).toHaveLength(1103);
  });

  test('share one limit of queries', async () => {
    const { recorder, record, calls, end } = controlled();
    const full = Array.from({ length: commitQueriesMax }, (_, at) => query(`q${at}`));
    const accepted = ['a', 'b'].map((id) => recorder.record(id, batchOf('first')));
    await nextLoopTurn();
    for (let waiting = 0; waiting < pendingQueriesMax; waiting += commitQueriesMax) {
      accepted.push(recorder.record('a', batch(full)));
    }
    const more = record('b', 'second');
    await expect(more).rejects.toMatchObject({ code: 'busy', message: /too much is waiting/i });
    for (let at = 0; at < calls.length; at++) await end(at, []);
    expect(await Promise.all(accepted)).toHaveLength(2 + pendingQueriesMax / commitQueriesMax);
    const afterwards = record('b', 'second');
    await nextLoopTurn();
    await end(calls.length - 1, []);
    expect(await afterwards).toEqual({ recorded: 1, duplicates: 0 });
  });

  test('share one limit of requests, including empty ones', async () => {
    const { record } = controlled();
    const accepted = Array.from({ length: pendingOperationsMax }, () => record('docs'));
    await expect(record('docs')).rejects.toMatchObject({ code: 'busy' });
    expect(accepted).toHaveLength(pendingOperationsMax);
  });
});

describe('closing', () => {
  test('finishes accepted batches of every project and refuses others', async () => {
    const { recorder, record, calls, end } = controlled();
    const accepted = [record('one', 'a'), record('two', 'c')];
    await nextLoopTurn();
    accepted.push(record('one', 'b'));
    let closed = false;
    const closing = recorder.close().then(() => {
      closed = true;
    });
    for (const project of ['one', 'three']) {
      await expect(async () => recorder.record(project, batchOf('d'))).rejects.toMatchObject({
        code: 'unavailable',
      });
    }
    await end(0, []);
    await end(1, []);
    expect(closed).toBe(false);
    await end(2, []);
    await closing;
    expect(calls).toHaveLength(3);
    expect(await Promise.all(accepted)).toEqual(Array(3).fill({ recorded: 1, duplicates: 0 }));
  });

  test('can be repeated', async () => {
    const { recorder } = controlled();
    await recorder.close();
    await recorder.close();
  });
});
