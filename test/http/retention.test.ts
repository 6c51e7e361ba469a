/** Recording into a project whose old rows are gone. */
import { expect, test } from 'vitest';
import { ALL_TIME } from '../../src/domain/counting/date-range.js';
import { detailsOf, errorOf, startMs, startService } from '../support/http.js';
import { by, retainAll } from '../support/store.js';

const rowsFrom = '2026-06-05T00:00:00.000Z';
const queryAt = (id: string, occurredAt?: string) => ({ id, caller: 'web', occurredAt });

test('what is from before the rows is refused with 400, naming each item, and nothing of the request is recorded', async () => {
  const { record, store } = await startService();
  const old = [queryAt('a', '2026-06-04T23:59:59.999Z'), queryAt('b', rowsFrom)];
  expect(JSON.parse((await record(JSON.stringify(old))).text)).toEqual({ recorded: 2, duplicates: 0 });
  await store.changeProject('default', 'docs', { retentionDays: 10 }, by);
  await retainAll(store, startMs);
  const sent = [queryAt('c'), ...old, queryAt('d', '2020-02-29T12:00:00+01:00')];
  const answer = await record(JSON.stringify(sent));
  expect(answer.status).toBe(400);
  expect(errorOf(answer)).toMatch(/^Nothing was recorded: 2 of its queries are from before 2026-06-05T/);
  expect(detailsOf(answer)).toEqual(
    [1, 3].map(
      (index) =>
        `queries[${index}]: occurredAt: lies before ${rowsFrom}, from when on the project keeps rows`,
    ),
  );
  const [, b] = old;
  const known = await record(JSON.stringify([b]));
  expect(JSON.parse(known.text)).toEqual({ recorded: 0, duplicates: 1 });
  expect(await store.count('docs', ALL_TIME)).toMatchObject({ total: 2 });
});

test('a repeat without a time, of a query whose row is gone, counts anew', async () => {
  const { record, store } = await startService();
  await record(JSON.stringify([queryAt('a', '2026-01-01T00:00:00Z')]));
  await store.changeProject('default', 'docs', { retentionDays: 10 }, by);
  await retainAll(store, startMs);
  const again = await record(JSON.stringify([queryAt('a')]));
  expect(JSON.parse(again.text)).toEqual({ recorded: 1, duplicates: 0 });
  expect(await store.count('docs', ALL_TIME)).toMatchObject({ total: 2 });
});
