import { expect, test } from 'vitest';
import { STORE_PARTS } from '../../src/storage/ports/store-stats.js';
import { by, type PlaceFactory, projectOf } from '../support/storage/store.js';

export function describeStats(kind: string, factory: PlaceFactory): void {
  test(`${kind}: reports stats, also when closed, and checks each of its parts and recording`, async () => {
    const store = await (await factory('new')).open();
    for (const part of [undefined, ...STORE_PARTS]) await store.maintenance.check(part);
    // Many calls at once, on a store that has committed nothing yet.
    await Promise.all(Array.from({ length: 20 }, (_, at) => store.maintenance.checkRecording(at)));
    await store.directory.createProject(projectOf('p'), by);
    const recording = store.counts.record('p', [{ id: 'a', caller: 'web', occurredAt: 1 }]);
    expect((await store.maintenance.stats()).pendingQueries).toBeGreaterThanOrEqual(0);
    await recording;
    for (const part of [undefined, ...STORE_PARTS]) await store.maintenance.check(part);
    await store.maintenance.checkRecording(1_000);
    const stats = await store.maintenance.stats();
    expect(stats).toMatchObject({ pendingOperations: 0, pendingQueries: 0 });
    expect(stats.sizeBytes).toBeGreaterThan(1000);
    for (const { max, used, idle, waiting } of stats.pools) {
      expect(max).toBeGreaterThan(0);
      expect(used + idle).toBeLessThanOrEqual(max);
      expect(waiting).toBe(0);
    }
    await store.close();
    expect((await store.maintenance.stats()).sizeBytes).toBeUndefined();
    for (const part of STORE_PARTS)
      await expect(store.maintenance.check(part)).rejects.toMatchObject({ code: 'unavailable' });
    await expect(store.maintenance.checkRecording(2_000)).rejects.toMatchObject({ code: 'unavailable' });
  });
}
