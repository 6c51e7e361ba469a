/** Counts of attempts: parallel attempts through any number of handles never pass a limit together. */
import { describe, expect, test } from 'vitest';
import { expiredWindowsMax } from '../../src/storage/ports/throttles.js';
import type { PlaceFactory } from '../support/storage/store.js';
import { runOnUsers } from '../support/users/people.js';

const limit = { attemptsMax: 3, windowMs: 1000 };
const nowMs = 5000;
const allowed = { isAllowed: true, resetsAt: nowMs + limit.windowMs };
const refused = { isAllowed: false, resetsAt: nowMs + limit.windowMs };

export function describeThrottles(kind: string, factory: PlaceFactory): void {
  const openTwo = async () => {
    const { open } = await factory();
    return [(await open()).throttles, (await open()).throttles] as const;
  };

  describe(`${kind}: attempts`, () => {
    test('are counted by key across handles and refused beyond the limit', async () => {
      const [one, other] = await openTwo();
      expect(await one.take('a', limit, nowMs)).toEqual(allowed);
      expect(await other.take('a', limit, nowMs + 1)).toEqual(allowed);
      expect(await one.take('a', limit, nowMs + 2)).toEqual(allowed);
      for (const handle of [one, other, one]) expect(await handle.take('a', limit, nowMs)).toEqual(refused);
      expect(await other.take('b', limit, nowMs)).toEqual(allowed);
    });

    test('never exceed the limit in parallel', async () => {
      const { open } = await factory();
      const handles = await Promise.all(Array.from({ length: 4 }, async () => (await open()).throttles));
      const attempts = Array.from({ length: 40 }, (_, at) =>
        handles[at % handles.length]?.take(`key ${at % 2}`, limit, nowMs),
      );
      const results = await Promise.all(attempts);
      expect(results.filter((result) => result?.isAllowed)).toHaveLength(2 * limit.attemptsMax);
    });

    test('are forgotten when their window ends and not before', async () => {
      const [one, other] = await openTwo();
      for (let at = 0; at < limit.attemptsMax; at++) await one.take('a', limit, nowMs + at);
      expect(await other.take('a', limit, nowMs + limit.windowMs - 1)).toEqual(refused);
      const next = { isAllowed: true, resetsAt: nowMs + 2 * limit.windowMs };
      expect(await other.take('a', limit, nowMs + limit.windowMs)).toEqual(next);
      expect(await one.take('a', limit, nowMs + limit.windowMs)).toEqual(next);
    });

    test('are forgotten at once if their window ends too late, as after a clock that was wrong', async () => {
      const [one] = await openTwo();
      const ahead = nowMs + 1e11;
      for (let at = 0; at < limit.attemptsMax; at++) await one.take('a', limit, ahead);
      expect(await one.take('a', limit, ahead - limit.windowMs)).toMatchObject({ isAllowed: false });
      expect(await one.take('a', limit, nowMs)).toEqual(allowed);
    });

    test('can be given back within their window only', async () => {
      const [one, other] = await openTwo();
      for (let at = 0; at < limit.attemptsMax; at++) await one.take('a', limit, nowMs);
      await other.giveBack('a', allowed.resetsAt);
      expect(await one.take('a', limit, nowMs)).toEqual(allowed);
      expect(await one.take('a', limit, nowMs)).toEqual(refused);
      const later = nowMs + limit.windowMs;
      for (let at = 0; at < limit.attemptsMax; at++) await one.take('a', limit, later);
      await one.giveBack('a', allowed.resetsAt);
      expect(await one.take('a', limit, later)).toMatchObject({ isAllowed: false });
      // Never below zero.
      for (let at = 0; at < 5; at++) await one.giveBack('a', later + limit.windowMs);
      for (let at = 0; at < limit.attemptsMax; at++)
        expect(await one.take('a', limit, later)).toMatchObject({ isAllowed: true });
      expect(await one.take('a', limit, later)).toMatchObject({ isAllowed: false });
    });

    test('can be reset for one key', async () => {
      const [one, other] = await openTwo();
      for (const key of ['a', 'b']) {
        for (let at = 0; at < limit.attemptsMax; at++) await one.take(key, limit, nowMs);
      }
      await other.reset('a');
      await other.reset('none');
      expect(await one.take('a', limit, nowMs)).toEqual(allowed);
      expect(await one.take('b', limit, nowMs)).toEqual(refused);
    });

    test('leave no more windows that have ended than others begin', async () => {
      const store = await (await factory()).open();
      const keys = Array.from({ length: expiredWindowsMax + 20 }, (_, at) => `key ${at}`);
      for (const key of keys) await store.throttles.take(key, limit, nowMs);
      for (const key of ['a', 'b']) await store.throttles.take(key, limit, nowMs + limit.windowMs);
      const { rows } = await runOnUsers(store, 'SELECT key FROM {login_throttle} ORDER BY key');
      expect(rows.map(({ key }) => key)).toEqual(['a', 'b']);
    });

    test('of other keys survive the removal of expired windows', async () => {
      const [one, other] = await openTwo();
      const keys = Array.from({ length: expiredWindowsMax + 20 }, (_, at) => `key ${at}`);
      await Promise.all(keys.map((key) => one.take(key, { attemptsMax: 1, windowMs: 10 }, nowMs)));
      for (let at = 0; at < limit.attemptsMax; at++) await one.take('a', limit, nowMs);
      await Promise.all([one, other].map((handle) => handle.take('b', limit, nowMs + 10)));
      expect(await one.take('a', limit, nowMs + 10)).toEqual(refused);
      for (const key of keys) {
        expect(await other.take(key, { attemptsMax: 1, windowMs: 10 }, nowMs + 20)).toMatchObject({
          isAllowed: true,
        });
      }
    });
  });
}
