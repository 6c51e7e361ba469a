import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FairShare, type Loop, Recordings } from '../../src/shared/fair-share.js';

/** A loop whose time passes only while something works or waits. `recordEveryMs`: while it is free, senders record so often. */
class FakeLoop implements Loop {
  ms = 0;
  workedMs = 0;
  recordEveryMs: number | undefined;
  readonly waits: number[] = [];
  get restedMs(): number {
    return this.waits.reduce((sum, ms) => sum + ms, 0);
  }

  readonly recordings = new Recordings(() => this.ms);
  readonly share = new FairShare(this.recordings, this);
  readonly nowMs = () => this.ms;
  readonly busyMs = () => this.ms;
  readonly next = async () => this.#record();
  readonly drained = async () => {
    for (let tick = 0; tick < 10; tick++) await Promise.resolve();
  };

  readonly wait = async (ms: number) => {
    this.waits.push(ms);
    const endMs = this.ms + ms;
    for (const every = this.recordEveryMs ?? ms; this.ms + every < endMs; this.ms += every) this.#record();
    this.ms = endMs;
    this.#record();
  };

  work(ms: number): void {
    this.ms += ms;
    this.workedMs += ms;
  }

  #record(): void {
    if (this.recordEveryMs !== undefined) this.recordings.note();
  }
}

/** Works in turns of so many milliseconds each. */
async function report(loop: FakeLoop, turns: readonly number[]): Promise<void> {
  for (const ms of turns) {
    await loop.share.turn();
    loop.work(ms);
  }
  await loop.drained();
  await loop.drained();
}

test('work that fails neither keeps the next from its turn nor is lost', async () => {
  const { share } = new FakeLoop();
  const failed = share.run(() => Promise.reject(new Error('broken')));
  const next = share.run(async () => 'done');
  await expect(failed).rejects.toThrow('broken');
  expect(await next).toBe('done');
});

test('while recordings go on, all other work together has at most half of the time, however long its turns are', async () => {
  const turns = fc.array(fc.double({ min: 0.1, max: 60, noNaN: true }), { minLength: 1, maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(turns, { minLength: 1, maxLength: 5 }),
      fc.integer({ min: 1, max: 4 }),
      async (reports, recordEveryMs) => {
        const loop = new FakeLoop();
        loop.recordEveryMs = recordEveryMs;
        loop.recordings.note();
        await Promise.all(reports.map((one) => report(loop, one)));
        // The rest after the last turn is still to come.
        await report(loop, [0]);
        expect(loop.workedMs).toBeLessThanOrEqual(loop.ms / 2 + 2);
      },
    ),
  );
});

test('without recordings there is no rest, nor once they have stopped', async () => {
  const loop = new FakeLoop();
  await report(loop, [30, 30, 30]);
  expect(loop.waits).toEqual([]);
  loop.recordEveryMs = 4;
  await report(loop, [30, 30]);
  // The first one is for the turn in which a recording arrived.
  expect(loop.restedMs).toBe(120);
  loop.recordEveryMs = undefined;
  await report(loop, [30, 30, 30]);
  // It notices after a moment that nothing is recorded any more.
  expect(loop.restedMs).toBe(125);
});

test('recordings go on although nothing could be recorded during a long turn', async () => {
  const loop = new FakeLoop();
  loop.recordings.note();
  await report(loop, [100]);
  expect(loop.recordings.goOn).toBe(true);
  loop.ms += 5;
  expect(loop.recordings.goOn).toBe(false);
});

test('recordings go on as long as the store needs for one, also if that fails', async () => {
  const loop = new FakeLoop();
  const { recordings } = loop;
  expect(recordings.goOn).toBe(false);
  let fail = (_error: Error) => {};
  const recording = recordings.during(() => new Promise((_, reject) => (fail = reject)));
  loop.ms += 1000;
  expect(recordings.goOn).toBe(true);
  fail(new Error('broken'));
  await expect(recording).rejects.toThrow('broken');
  expect(recordings.goOn).toBe(true);
  loop.ms += 5;
  expect(recordings.goOn).toBe(false);
});

test('work that leaves more than its share free by itself never rests', async () => {
  const loop = new FakeLoop();
  loop.recordEveryMs = 1;
  for (let time = 0; time < 100; time++) {
    await report(loop, [1]);
    loop.ms += 3;
    loop.recordings.note();
  }
  expect(loop.waits).toEqual([]);
});

test('each of several works in turn, first come, first served', async () => {
  const loop = new FakeLoop();
  loop.recordEveryMs = 1;
  const order: string[] = [];
  const work = async (name: string) => {
    for (let time = 0; time < 3; time++) {
      await loop.share.turn();
      order.push(name);
      loop.work(5);
    }
  };
  await Promise.all(['a', 'b', 'c'].map(work));
  expect(order.join('')).toBe('abcabcabc');
});

test('the turn of a request ends with it, with its next turn, or after a time', async () => {
  const loop = new FakeLoop();
  const { share } = loop;
  const order: string[] = [];
  const never = new Promise<void>(() => {});
  let waits = () => {};
  const held: Loop = { ...loop, wait: () => new Promise((resolve) => (waits = resolve)) };
  const requests = new FairShare(loop.recordings, held);
  const begin = async (name: string, ended: Promise<void>) => {
    await requests.begin(ended);
    order.push(name);
  };
  await begin('ends', Promise.resolve());
  await begin('goes on', never);
  const next = begin('next', never);
  await loop.drained();
  expect(order).toEqual(['ends', 'goes on']);
  const step = requests.turn().then(() => order.push('step'));
  await next;
  await loop.drained();
  expect(order).toEqual(['ends', 'goes on', 'next']);
  waits();
  await step;
  expect(order).toEqual(['ends', 'goes on', 'next', 'step']);
  await share.turn();
});

test('what ends later than its turn begins takes all of it: steps of changes come one at a time', async () => {
  const { share, drained } = new FakeLoop();
  let end = () => {};
  const order: string[] = [];
  const first = share.run(() => new Promise<void>((resolve) => (end = resolve)));
  const second = share.run(async () => void order.push('second'));
  await drained();
  await drained();
  expect(order).toEqual([]);
  end();
  await Promise.all([first, second]);
  expect(order).toEqual(['second']);
});

test('a few recordings leave all of the time that they do not need', async () => {
  const loop = new FakeLoop();
  const { share, recordings } = loop;
  for (let time = 0; time < 10; time++) {
    // One that needs a moment of the store, and another one much later.
    const ended = loop.wait(2);
    await recordings.during(() => ended);
    await report(loop, [10, 10, 10, 10]);
    loop.ms += 10;
  }
  // For each, one look at whether there is another one.
  expect(loop.restedMs).toBeLessThanOrEqual(10 * (2 + 5));
  await share.turn();
});

test('requests that wait begin in the same turn, up to the next work of another kind, and not all', async () => {
  const loop = new FakeLoop();
  const { share, drained } = loop;
  const begun: string[] = [];
  let end = () => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  const forever: Loop = { ...loop, next: loop.next, wait: () => new Promise(() => {}) };
  const requests = new FairShare(loop.recordings, forever);
  const begin = (name: string) => void requests.begin(ended).then(() => begun.push(name));
  for (const name of ['a', 'b']) begin(name);
  void requests.run(async () => void begun.push('work'));
  for (let at = 0; at < 20; at++) begin(`${at}`);
  await drained();
  expect(begun).toEqual(['a', 'b']);
  end();
  for (let time = 0; time < 5; time++) await drained();
  expect(begun.slice(2, 4)).toEqual(['work', '0']);
  expect(begun).toHaveLength(23);
  await share.turn();
});
