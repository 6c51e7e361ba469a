import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Debt, type Loop, LoopShare, Recordings, StoreShare } from '../../src/shared/fair-share.js';

/** A loop whose time passes only while something works or waits. While `isRecording`, whatever looks finds a recording. */
class FakeLoop implements Loop {
  ms = 0;
  workedMs = 0;
  restedMs = 0;
  isRecording = false;
  /** The waits of those who watch recordings end with the next time that passes. */
  readonly #watched: { readonly untilMs: number; readonly end: () => void }[] = [];
  readonly recordings = new Recordings({
    wait: (ms) => new Promise((end) => this.#watched.push({ untilMs: this.ms + ms, end })),
    next: () => this.next(),
  });
  readonly #debt = new Debt(this.recordings, this);
  readonly share = new LoopShare(this.#debt, this.recordings, this);
  readonly store = new StoreShare(this.#debt, this);
  readonly nowMs = () => this.ms;

  readonly next = async () => {
    if (this.isRecording) this.record();
    await settled();
  };

  readonly wait = async (ms: number) => {
    this.restedMs += ms;
    await this.pass(ms);
  };

  /** Time in which the loop has nothing to do but to record. */
  async pass(ms: number): Promise<void> {
    for (let step = 0; step < 4; step++) {
      this.ms += ms / 4;
      await this.next();
      for (const { end } of this.#watched.splice(0, this.#due())) end();
      await settled();
    }
  }

  /** One that takes no time. */
  record(): void {
    this.recordings.arrive();
    this.recordings.end();
  }

  work(ms: number): void {
    this.ms += ms;
    this.workedMs += ms;
  }

  /** Recordings that follow one another. */
  async begin(): Promise<void> {
    this.isRecording = true;
    await this.next();
    await this.next();
  }

  async end(): Promise<void> {
    this.isRecording = false;
    for (let time = 0; time < 4; time++) await this.pass(3);
  }

  #due(): number {
    return this.#watched.filter(({ untilMs }) => untilMs <= this.ms).length;
  }
}

async function settled(): Promise<void> {
  for (let time = 0; time < 20; time++) await Promise.resolve();
}

/** Works in steps of so many milliseconds each. */
async function report(loop: FakeLoop, steps: readonly number[]): Promise<void> {
  for (const ms of steps) {
    await loop.share.step();
    loop.work(ms);
  }
}

const turns = fc.array(fc.double({ min: 0.1, max: 60, noNaN: true }), { minLength: 1, maxLength: 20 });

test('while recordings go on, all steps and requests together have at most half of the time', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(turns, { minLength: 1, maxLength: 5 }), turns, async (reports, requests) => {
      const loop = new FakeLoop();
      await loop.begin();
      const beganMs = loop.ms;
      await Promise.all([
        ...reports.map((one) => report(loop, one)),
        ...requests.map(async (ms) => {
          await loop.share.begin();
          loop.work(ms);
        }),
      ]);
      // The rest after the last step.
      await report(loop, [0]);
      expect(loop.workedMs).toBeLessThanOrEqual((loop.ms - beganMs) / 2 + 2);
    }),
  );
});

test('nothing waits for longer than a rest, whatever was done before it', async () => {
  const loop = new FakeLoop();
  await loop.begin();
  await report(loop, [60_000]);
  const beganMs = loop.ms;
  await report(loop, [0]);
  expect(loop.ms - beganMs).toBeLessThanOrEqual(500);
});

test('without recordings nothing waits or rests, nor once they have stopped', async () => {
  const loop = new FakeLoop();
  for (const inProgress of [0, 1, 64]) expect(loop.share.begin(inProgress)).toBeUndefined();
  await report(loop, [30, 30, 30]);
  expect(loop.restedMs).toBe(0);
  await loop.begin();
  expect(loop.share.begin()).toBeDefined();
  await report(loop, [30, 30]);
  expect(loop.restedMs).toBeGreaterThan(0);
  await loop.end();
  const restedMs = loop.restedMs;
  expect(loop.share.begin()).toBeUndefined();
  await report(loop, [30, 30, 30]);
  expect(loop.restedMs).toBe(restedMs);
});

test('all that waits goes on when recordings end during a rest', async () => {
  const loop = new FakeLoop();
  await loop.begin();
  await report(loop, [60]);
  loop.isRecording = false;
  await Promise.all(Array.from({ length: 40 }, () => loop.share.begin()));
  expect(loop.restedMs).toBeLessThanOrEqual(12);
});

/** How many requests begin in each turn of the loop, of 500 that arrive together and work for so long each. */
async function beginMany(workMs: number, loop = new FakeLoop()): Promise<number[]> {
  let turn = 0;
  const next = () => {
    turn++;
    return loop.next();
  };
  const { nowMs, wait, recordings } = loop;
  const share = new LoopShare(new Debt(recordings, loop), recordings, { nowMs, wait, next });
  const begun = new Map<number, number>();
  const all = Array.from({ length: 500 }, async () => {
    await share.begin(500);
    begun.set(turn, (begun.get(turn) ?? 0) + 1);
    loop.work(workMs);
  });
  await loop.end();
  await Promise.all(all);
  return [...begun.values()];
}

test('of many requests that arrive together, only some begin in a turn, also if nothing is recorded or no longer', async () => {
  expect(Math.max(...(await beginMany(0)))).toBe(128);
  expect(Math.max(...(await beginMany(1)))).toBe(32);
  expect(Math.max(...(await beginMany(5)))).toBe(8);
  const loop = new FakeLoop();
  await loop.begin();
  expect(Math.max(...(await beginMany(0, loop)))).toBe(128);
});

test('recordings that come one by one do not go on', async () => {
  const loop = new FakeLoop();
  for (let time = 0; time < 5; time++) {
    loop.recordings.arrive();
    await loop.recordings.during(() => loop.pass(2));
    loop.recordings.end();
    expect(loop.recordings.goOn).toBe(false);
    await loop.pass(12);
  }
  loop.record();
  loop.record();
  expect(loop.recordings.goOn).toBe(true);
});

test('recordings go on if the next one arrived while other work took all of the time', async () => {
  const seen: boolean[] = [];
  let arrivals = 1;
  const recordings: Recordings = new Recordings({
    wait: async () => {},
    next: async () => {
      if (arrivals-- > 0) arrive();
      seen.push(recordings.goOn);
    },
  });
  const arrive = () => {
    recordings.arrive();
    recordings.end();
  };
  arrive();
  await settled();
  expect(seen).toEqual([true, true]);
  expect(recordings.goOn).toBe(false);
});

test('recordings go on as long as the store needs for one, also if that fails, and not for long after', async () => {
  const loop = new FakeLoop();
  const { recordings } = loop;
  loop.record();
  loop.record();
  let fail = (_error: Error) => {};
  const recording = recordings.during(() => new Promise((_, reject) => (fail = reject)));
  for (let time = 0; time < 100; time++) await loop.pass(10);
  expect(recordings.goOn).toBe(true);
  fail(new Error('broken'));
  await expect(recording).rejects.toThrow('broken');
  expect(recordings.goOn).toBe(true);
  await loop.end();
  expect(recordings.goOn).toBe(false);
});

test('recordings go on while one waits for the loop, and not for long while it waits for its sender', async () => {
  const loop = new FakeLoop();
  const { recordings } = loop;
  loop.record();
  recordings.arrive();
  for (let time = 0; time < 7; time++) {
    await loop.pass(3);
    expect(recordings.goOn).toBe(true);
  }
  for (let time = 0; time < 10; time++) await loop.pass(3);
  expect(recordings.goOn).toBe(false);
  recordings.note();
  recordings.arrive();
  expect(recordings.goOn).toBe(true);
  recordings.end();
  recordings.end();
  await loop.end();
  expect(recordings.goOn).toBe(false);
});

test('steps and requests take their turns first come, first served', async () => {
  const loop = new FakeLoop();
  await loop.begin();
  const begun: string[] = [];
  const one = async (name: string, turn: Promise<void> | undefined) => {
    await turn;
    begun.push(name);
    loop.work(1);
  };
  const { share } = loop;
  const work = async (name: string) => {
    for (let time = 0; time < 3; time++) await one(name, share.step());
  };
  await Promise.all([work('a'), one('r', share.begin()), one('s', share.begin()), work('b')]);
  expect(begun.join('')).toBe('arsbabab');
});

test('small requests begin together, and the fewer the longer they take', async () => {
  const loop = new FakeLoop();
  await loop.begin();
  const { share } = loop;
  const longest = async (ms: number) => {
    let [turnMs, longestMs] = [0, 0];
    const next = loop.restedMs;
    let restedMs = next;
    const request = async () => {
      await share.begin();
      if (loop.restedMs !== restedMs) [restedMs, turnMs] = [loop.restedMs, 0];
      loop.work(ms);
      turnMs += ms;
      longestMs = Math.max(longestMs, turnMs);
    };
    await Promise.all(Array.from({ length: 100 }, request));
    return longestMs;
  };
  expect(await longest(0.25)).toBe(4);
  await longest(20);
  expect(await longest(20)).toBe(20);
  expect(await longest(0.25)).toBe(4);
});

test('steps begin one at a time, however many requests begin together', async () => {
  const loop = new FakeLoop();
  await loop.begin();
  await Promise.all(Array.from({ length: 100 }, () => loop.share.begin()));
  const restedMs = new Set<number>();
  const step = async () => {
    await loop.share.step();
    restedMs.add(loop.restedMs);
    loop.work(5);
  };
  await Promise.all([step(), step(), step()]);
  expect(restedMs.size).toBe(3);
});

test('steps of changes come one at a time, and one that fails neither keeps the next from its turn nor is lost', async () => {
  const { store } = new FakeLoop();
  const order: string[] = [];
  let fail = (_error: Error) => {};
  const failed = store.take(() => new Promise((_, reject) => (fail = reject)));
  const next = store.take(async () => order.push('next'));
  await settled();
  expect(order).toEqual([]);
  fail(new Error('broken'));
  await expect(failed).rejects.toThrow('broken');
  await next;
  expect(order).toEqual(['next']);
});

test('while recordings go on, steps of changes and of the loop together take at most half of the time, and without them they do not rest', async () => {
  const loop = new FakeLoop();
  const change = (ms: number) => loop.store.take(async () => loop.work(ms));
  await Promise.all([10, 20, 30].map(change));
  expect(loop.restedMs).toBe(0);
  await loop.begin();
  loop.workedMs = 0;
  const beganMs = loop.ms;
  await Promise.all([10, 20, 30, 0].map(change));
  expect(loop.workedMs).toBeLessThanOrEqual((loop.ms - beganMs) / 2);
  await Promise.all([report(loop, [10, 20, 30]), ...[10, 20, 30].map(change)]);
  // The rest after the last one.
  await change(0);
  expect(loop.workedMs).toBeLessThanOrEqual((loop.ms - beganMs) / 2);
});
