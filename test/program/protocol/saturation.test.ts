/** A server that receives far more recordings than it accepts. */
import { expect, test } from 'vitest';
import { runCli } from '../../support/cli/cli.js';
import { clientOf } from '../../support/cli/cli-client.js';
import { succeed } from '../../support/cli/cli-place.js';
import { startService } from '../../support/http/http.js';

const senders = 40;
const requestsEach = 4;
const triesMax = 10_000;

/** The query numbers of a request: one or many, some of which another request has as well. */
function listNumbers(request: number): number[] {
  const first = request * 20 - (request % 5 === 4 ? 25 : 0);
  return Array.from({ length: [1, 20, 3, 1, 40][request % 5] ?? 1 }, (_, at) => first + at);
}

test('a saturated server serves reads and probes, counts exactly the acknowledged queries, and accepts repeats', async () => {
  const service = await startService({
    limits: { recordingsMax: 4, recordingBytesMax: 1024, bodyBytesMax: 4096 },
  });
  const server = { url: await service.origin() };
  const client = clientOf(server, 'docs', service.keys.admin);
  const acknowledged = new Set<number>();
  const refused: number[] = [];
  let recorded = 0;
  const record = async (request: number): Promise<number> => {
    const numbers = listNumbers(request);
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
    Array.from({ length: senders * requestsEach }, (_, request) => listNumbers(request)).flat(),
  );
  expect((await client.count()).body.total).toBe(all.size);
  expect(acknowledged.size).toBe(all.size);
  await service.close();
  await succeed(runCli(['verify', '--database', service.databaseUrl]));
});
