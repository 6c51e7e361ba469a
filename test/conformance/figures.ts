import { expect, test } from 'vitest';
import { STORE_PARTS } from '../../src/storage/ports/store-stats.js';
import { by, type PlaceFactory, projectOf } from '../support/store.js';

export function describeFigures(kind: string, factory: PlaceFactory): void {
  test(`${kind}: says how it is, and when it is closed as well; each part of it can be tried`, async () => {
    const store = await (await factory()).open();
    for (const part of [undefined, ...STORE_PARTS]) await store.check(part);
    await store.createProject(projectOf('p'), by);
    const recording = store.record('p', [{ id: 'a', caller: 'web', occurredAt: 1 }]);
    expect((await store.figures()).pendingQueries).toBeGreaterThanOrEqual(0);
    await recording;
    for (const part of [undefined, ...STORE_PARTS]) await store.check(part);
    const figures = await store.figures();
    expect(figures).toMatchObject({ pendingOperations: 0, pendingQueries: 0 });
    expect(figures.sizeBytes).toBeGreaterThan(1000);
    for (const { max, used, idle, waiting } of figures.pools) {
      expect(max).toBeGreaterThan(0);
      expect(used + idle).toBeLessThanOrEqual(max);
      expect(waiting).toBe(0);
    }
    await store.close();
    expect((await store.figures()).sizeBytes).toBeUndefined();
    for (const part of STORE_PARTS)
      await expect(store.check(part)).rejects.toMatchObject({ code: 'unavailable' });
  });
}
