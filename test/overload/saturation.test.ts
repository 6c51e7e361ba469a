/** A real server that is sent far more than it takes on: what it acknowledges counts, what it refuses does not. */
import { expect, test } from 'vitest';
import { clientOf } from '../support/cli-client.js';
import { makeKey, placeWithProject, project, succeed } from '../support/cli-place.js';

const senders = 40;
const requestsEach = 4;
const triesMax = 10_000;

/** Numbers of the queries of a request: some alone, some many, some that another request has as well. */
function numbersOf(request: number): number[] {
  const first = request * 20 - (request % 5 === 4 ? 25 : 0);
  return Array.from({ length: [1, 20, 3, 1, 40][request % 5] ?? 1 }, (_, at) => first + at);
}

test('recording saturated: reads and probes go on, what is refused was not recorded, and sent again counts once', async () => {
  const place = await placeWithProject();
  const key = await makeKey(place, 'admin');
  const server = await place.serve(['--recordings-max', '4', '--recording-bytes-max', '1024']);
  const client = clientOf(server, project, key);
  const acknowledged = new Set<number>();
  const refused: number[] = [];
  let recorded = 0;
  const record = async (request: number): Promise<number> => {
    const numbers = numbersOf(request);
    const answer = await client.record(numbers.map((number) => ({ id: `q${number}`, caller: 'web' })));
    if (answer.status !== 200) return answer.status;
    for (const number of numbers) acknowledged.add(number);
    recorded += answer.body.recorded;
    return 200;
  };
  const sending = Promise.all(
    Array.from({ length: senders }, async (_, sender) => {
      for (let at = 0; at < requestsEach; at++) {
        const request = at * senders + sender;
        const status = await record(request);
        expect([200, 503]).toContain(status);
        if (status === 503) refused.push(request);
      }
    }),
  );
  let over = false;
  const sent = sending.finally(() => {
    over = true;
  });
  let reads = 0;
  while (!over) {
    expect((await client.count()).status).toBe(200);
    expect((await fetch(`${server.url}/livez`)).status).toBe(200);
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
    reads++;
  }
  await sent;
  expect(reads).toBeGreaterThan(0);
  expect(refused.length).toBeGreaterThan(0);
  expect((await client.count()).body.total).toBe(acknowledged.size);
  expect(recorded).toBe(acknowledged.size);

  for (const request of refused) {
    for (let tries = 0; tries < triesMax && (await record(request)) !== 200; tries++);
  }
  const all = new Set(
    Array.from({ length: senders * requestsEach }, (_, request) => numbersOf(request)).flat(),
  );
  expect((await client.count()).body.total).toBe(all.size);
  expect(acknowledged.size).toBe(all.size);
  expect(await server.stop()).toMatchObject({ status: 0 });
  await succeed(place.run(['verify']));
});
