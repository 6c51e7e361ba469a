/** Large answers of PostgreSQL are read a piece at a time, with the other work of the event loop in between. */
import { Socket } from 'node:net';
import { expect, inject, onTestFinished, test } from 'vitest';
import { Database } from '../../../src/storage/postgres/connection/database.js';
import { parsePostgresUrl } from '../../../src/storage/postgres/connection/location.js';

/** One piece, and what had arrived when it was read. */
const piecesMax = 3;

test('no turn of the event loop reads more than a few pieces of an answer', async () => {
  const location = parsePostgresUrl(inject('postgresServers')[0]?.url ?? '');
  if (!location.ok) throw new Error(location.problems.join());
  let [pieces, most, turns] = [0, 0, 0];
  const stream = () =>
    new Socket().on('data', ({ length }) => {
      if (length >= 16 * 1024) most = Math.max(most, ++pieces);
    });
  const config = { ...location.value.config, stream };
  const database = new Database({ ...location.value, config }, { connectionsMax: 2, timeoutMs: 60_000 });
  onTestFinished(() => database.close());
  let isRead = false;
  const turn = () => {
    turns++;
    pieces = 0;
    if (!isRead) setImmediate(turn);
  };
  turn();
  const text = "SELECT number, repeat('x', 1000) AS text FROM generate_series(1, 20000) AS number";
  const rows = await database.read({ text });
  isRead = true;
  expect(rows).toHaveLength(20_000);
  expect(rows.at(-1)).toEqual({ number: 20_000, text: 'x'.repeat(1000) });
  expect(most).toBeLessThanOrEqual(piecesMax);
  expect(turns).toBeGreaterThan(20);
});
