/** Asynchronous storages that are switched off while nothing uses them. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { expect, test } from 'vitest';
import { withStorages } from '../../src/auth/storages.js';

/** The storages that the sign-in library has used in this process. */
const context = { requestStateAsyncStorage: new AsyncLocalStorage<number>() };
Object.assign(globalThis, { [Symbol.for('better-auth:global')]: { context } });

test.each([
  ['of the sign-in library', context.requestStateAsyncStorage, []],
  ['that work names', new AsyncLocalStorage<number>(), undefined],
] as const)(
  'a storage %s is off once the last work has ended, and not before',
  async (_what, storage, own) => {
    const ends: (() => void)[] = [];
    const seen: (number | undefined)[] = [];
    const begin = (one: number) =>
      withStorages(
        () =>
          storage.run(one, async () => {
            await new Promise<void>((resolve) => ends.push(resolve));
            seen.push(storage.getStore());
          }),
        own ?? [storage],
      );
    await storage.run(0, async () => {
      const all = [begin(1), begin(2)];
      for (const [at, work] of all.entries()) {
        ends[at]?.();
        await work;
        seen.push(storage.getStore());
      }
    });
    expect(seen).toEqual([1, 0, 2, undefined]);
  },
);

test('work that fails switches them off, too', async () => {
  const storage = new AsyncLocalStorage<number>();
  await storage.run(0, async () => {
    const failed = withStorages(() => Promise.reject(new Error('refused')), [storage]);
    await expect(failed).rejects.toThrow('refused');
    expect(storage.getStore()).toBeUndefined();
  });
});
