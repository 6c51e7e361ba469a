import { describe, expect, test } from 'vitest';
import { CallerStatsError } from '../../src/domain/errors.js';
import { commitQueriesMax, pendingOperationsMax, pendingQueriesMax } from '../../src/domain/limits.js';
import { nextLoopTurn } from '../../src/shared/fair-share.js';
import { Backlog, CommitQueue, type Outcome } from '../../src/storage/commit-queue.js';
import type { ObservedCommit } from '../../src/storage/ports/store-stats.js';
import type { Operation } from '../../src/storage/sqlite/writer/operations.js';

/** A commit that ends when the test says so, and remembers what each group was. */
function controlledCommit() {
  const groups: (readonly Operation[])[] = [];
  const ends: { succeed: () => void; fail: (error: Error) => void }[] = [];
  const commit = (operations: readonly Operation[]): Promise<readonly Outcome<unknown>[]> => {
    groups.push(operations);
    return new Promise((resolve, reject) => {
      ends.push({
        succeed: () => resolve(operations.map((operation) => ({ ok: true, value: operation }))),
        fail: reject,
      });
    });
  };
  const endNext = async (how: 'succeed' | Error = 'succeed') => {
    const end = ends.shift();
    if (how === 'succeed') end?.succeed();
    else end?.fail(how);
    await nextLoopTurn();
  };
  return { commit, groups, endNext };
}

const queueOf = (commit: (operations: readonly Operation[]) => Promise<readonly Outcome<unknown>[]>) =>
  new CommitQueue({ commit, weigh });

/** A queue whose commits end when the test says so. */
function controlledQueue() {
  const { commit, ...rest } = controlledCommit();
  return { queue: queueOf(commit), ...rest };
}

const weigh = (operation: Operation) => (operation.kind === 'record' ? operation.ids.length : 1);
const touch = (keyId: string): Operation => ({ kind: 'directory', method: 'touchKey', args: [keyId, 0] });
const record = (queries: number): Operation => ({
  kind: 'record',
  projectId: 'p',
  ids: Array<string>(queries).fill('x'),
  callers: [],
  occurredAt: new Float64Array(),
});

describe('the commit queue', () => {
  test('groups what arrives in one turn of the event loop, and what arrives during a commit', async () => {
    const { queue, groups, endNext } = controlledQueue();
    const submit = (...ids: string[]) => ids.map((id) => queue.submit(touch(id)));
    const together = submit('a', 'b');
    expect(groups).toEqual([]);
    await nextLoopTurn();
    expect(groups).toEqual([[touch('a'), touch('b')]]);
    const meanwhile = submit('c');
    await nextLoopTurn();
    meanwhile.push(...submit('d'));
    await endNext();
    expect(groups).toEqual([
      [touch('a'), touch('b')],
      [touch('c'), touch('d')],
    ]);
    await endNext();
    expect(await Promise.all([...together, ...meanwhile])).toEqual(['a', 'b', 'c', 'd'].map(touch));
  });

  test('limits the queries of a commit but never splits or starves an operation', async () => {
    const { queue, groups, endNext } = controlledQueue();
    const sizes = [commitQueriesMax - 1, 1, 1, commitQueriesMax + 5, 1];
    const settled = Promise.all(sizes.map((size) => queue.submit(record(size))));
    await nextLoopTurn();
    for (const _ of sizes) await endNext();
    await settled;
    const sizesOf = groups.map((group) => group.map(weigh));
    expect(sizesOf).toEqual([[commitQueriesMax - 1, 1], [1], [commitQueriesMax + 5], [1]]);
  });

  test('rejects a whole group whose commit fails, and continues', async () => {
    const { queue, endNext } = controlledQueue();
    const first = queue.submit(touch('a'));
    await nextLoopTurn();
    const second = Promise.allSettled([queue.submit(touch('b')), queue.submit(touch('c'))]);
    const lost = expect(first).rejects.toThrow('disk full');
    await endNext(new Error('disk full'));
    await lost;
    await endNext();
    expect((await second).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
  });

  test('rejects an operation that was refused, with its code', async () => {
    const queue = queueOf(async () => [{ ok: false, code: 'not_found', message: 'none' }]);
    await expect(queue.submit(touch('a'))).rejects.toEqual(new CallerStatsError('not_found', 'none'));
  });

  test('passes on the details of a refusal', async () => {
    for (const details of [['queries[0]: too old'], undefined]) {
      const refusal = { ok: false, code: 'invalid', message: 'no', ...(details && { details }) } as const;
      const queue = queueOf(async () => [refusal]);
      await expect(queue.submit(touch('a'))).rejects.toMatchObject({ details: details ?? [] });
    }
  });

  test('is idle before the first operation and after all have settled', async () => {
    const { queue, endNext } = controlledQueue();
    expect(queue.idle).toBe(true);
    const settled = [queue.submit(touch('a'))];
    expect(queue.idle).toBe(false);
    await nextLoopTurn();
    settled.push(queue.submit(touch('b')));
    await endNext();
    expect(queue.idle).toBe(false);
    await endNext();
    await Promise.all(settled);
    expect(queue.idle).toBe(true);
  });

  test('rejects an operation without an outcome', async () => {
    const queue = queueOf(async () => []);
    await expect(queue.submit(touch('a'))).rejects.toThrow('fewer outcomes');
  });

  test('refuses too many waiting queries or operations', async () => {
    const { commit } = controlledCommit();
    const queries = queueOf(commit);
    void queries.submit(record(pendingQueriesMax));
    await expect(queries.submit(record(1))).rejects.toMatchObject({ code: 'busy' });

    const operations = queueOf(commit);
    for (let waiting = 0; waiting < pendingOperationsMax; waiting++) void operations.submit(touch('a'));
    await expect(operations.submit(touch('a'))).rejects.toMatchObject({ code: 'busy' });
  });

  test('accepts more after a commit', async () => {
    const queue = queueOf(async (operations) => operations.map((value) => ({ ok: true, value })));
    for (let written = 0; written <= pendingOperationsMax; written += 100)
      await Promise.all(Array.from({ length: 100 }, () => queue.submit(touch('a'))));
    for (let written = 0; written < 3; written++) await queue.submit(record(pendingQueriesMax));
    await expect(queue.submit(touch('a'))).resolves.toEqual(touch('a'));
  });

  test('finishes accepted operations and refuses others once closed', async () => {
    const { queue, endNext } = controlledQueue();
    const accepted = Promise.all([queue.submit(touch('a')), queue.submit(touch('b'))]);
    const closed = queue.close();
    await expect(queue.submit(touch('c'))).rejects.toMatchObject({ code: 'unavailable' });
    await nextLoopTurn();
    await endNext();
    await closed;
    expect(await accepted).toHaveLength(2);
  });
});

test('reports the duration of each commit, including failed ones', async () => {
  const { commit, endNext } = controlledCommit();
  let nowMs = 0;
  const took: number[] = [];
  const backlog = new Backlog();
  const queue = new CommitQueue({
    commit,
    weigh,
    backlog,
    observer: { now: () => nowMs, committed: (ms) => void took.push(ms) },
  });
  const first = queue.submit(record(3));
  await nextLoopTurn();
  const second = queue.submit(record(5)).catch((error: Error) => error.message);
  expect(backlog.pending).toEqual({ pendingOperations: 1, pendingQueries: 5 });
  nowMs = 7;
  await endNext();
  await first;
  nowMs = 10;
  await endNext(new Error('the disk is full'));
  expect([await second, took]).toEqual(['the disk is full', [7, 3]]);
  expect(backlog.pending).toEqual({ pendingOperations: 0, pendingQueries: 0 });
});

test.each([
  ['duplicates alone', [{ recorded: 0, duplicates: 1 }, 'outdated'], false],
  [
    'a new query beside them',
    [
      { recorded: 0, duplicates: 1 },
      { recorded: 1, duplicates: 0 },
    ],
    true,
  ],
  ['another change', [undefined], true],
] as const)('tells whether a commit has written anything: %s', async (_what, values, hasWritten) => {
  const told: boolean[] = [];
  const commit = async () => values.map((value) => ({ ok: true, value }) as const);
  const observer = {
    now: () => 0,
    committed: (_ms: number, one: ObservedCommit) => void told.push(one.hasWritten),
  };
  const queue = new CommitQueue({ commit, weigh, observer });
  await Promise.all(values.map(() => queue.submit(touch('key'))));
  expect(told).toEqual([hasWritten]);
});
