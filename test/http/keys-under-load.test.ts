/** Keys that are changed while they are in use: from the very next request on, whoever changed them, however many ask. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../src/storage/open.js';
import type { KeyChange, Store } from '../../src/storage/ports/store.js';
import { QUERIES, type Service, STATS, startMs, startService } from '../support/http.js';
import { newKey } from '../support/http-keys.js';

const senders = 12;
const by = { name: 'a test', address: null, at: startMs };

/** A request that ended: whether the change was there before it began, and after it had ended. */
interface Ended {
  readonly status: number;
  readonly beganAfter: boolean;
  readonly endedBefore: boolean;
  readonly recording: boolean;
}

/** Sends over connections of their own, without a pause, until told to stop. */
function sendWithout({ connect, read, keys }: Service, changed: () => boolean) {
  const ended: Ended[] = [];
  let stopping = false;
  const one = async (sender: number): Promise<void> => {
    const connection = await connect();
    for (let n = 0; !stopping; n++) {
      const recording = sender % 2 === 0;
      const body = recording ? `{"id":"${sender}-${n}","caller":"web"}` : '';
      const [method, path] = recording ? ['POST', QUERIES] : ['GET', STATS];
      const head = `${method} ${path} HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer ${keys.admin}\r\n`;
      const type = recording ? `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n` : '';
      const beganAfter = changed();
      connection.write(`${head}${type}\r\n${body}`);
      const { status } = await read(connection, { method, path });
      ended.push({ status, beganAfter, endedBefore: !changed(), recording });
    }
    connection.close();
  };
  let failed = false;
  const all = Promise.all(Array.from({ length: senders }, (_, sender) => one(sender))).catch(
    (error: unknown) => {
      failed = true;
      throw error;
    },
  );
  return {
    ended,
    /** Resolves when `count` more requests have ended, each of which began after the call. */
    async more(count: number): Promise<void> {
      const from = ended.length + senders;
      const enough = async () => {
        while (ended.length < from + count && !failed) await new Promise((resolve) => setImmediate(resolve));
      };
      await Promise.race([all, enough()]);
    },
    async stop(): Promise<void> {
      stopping = true;
      await all;
    },
  };
}

async function underLoad(service: Service, store: Store, change: KeyChange): Promise<Ended[]> {
  let changed = false;
  // Listening begins with the first connection, which the others wait for.
  (await service.connect()).close();
  const load = sendWithout(service, () => changed);
  await load.more(50);
  await store.changeKey('default', 'admin', change, by);
  changed = true;
  await load.more(100);
  await load.stop();
  return load.ended;
}

const statusesOf = (ended: readonly Ended[]) => [...new Set(ended.map(({ status }) => status))];

describe.each([
  ['this process', async ({ store }: Service) => ({ store })],
  [
    'another handle of the database',
    async ({ databaseUrl }: Service) => {
      const store = await openStore(databaseUrl);
      onTestFinished(() => store.close());
      return { store };
    },
  ],
])('changed through %s, under load', (_what, storeOf) => {
  test.each<KeyChange>(['revoke', 'disable'])(
    '%s: every request that begins after it is refused',
    async (change) => {
      const service = await startService({ logLevel: 'info' });
      const { store } = await storeOf(service);
      const ended = await underLoad(service, store, change);
      const after = ended.filter(({ beganAfter }) => beganAfter);
      const before = ended.filter(({ endedBefore }) => endedBefore);
      expect(statusesOf(before)).toEqual([200]);
      expect(statusesOf(after)).toEqual([401]);
      expect([before.length >= 50, after.length >= 100]).toEqual([true, true]);
      const recorded = ended.filter(({ status, recording }) => recording && status === 200).length;
      expect((await service.store.verify()).queries, 'what was refused was not recorded').toBe(recorded);
    },
  );

  test('enable: every request that begins after it is answered', async () => {
    const service = await startService({ logLevel: 'info' });
    const { store } = await storeOf(service);
    await store.changeKey('default', 'admin', 'disable', by);
    const ended = await underLoad(service, store, 'enable');
    expect(statusesOf(ended.filter(({ endedBefore }) => endedBefore))).toEqual([401]);
    expect(statusesOf(ended.filter(({ beganAfter }) => beganAfter))).toEqual([200]);
  });

  test('to and fro, each time at once', async () => {
    const service = await startService({ logLevel: 'info' });
    const { store } = await storeOf(service);
    for (let n = 0; n < 20; n++) {
      await store.changeKey('default', 'admin', 'disable', by);
      expect((await service.send()).status).toBe(401);
      await store.changeKey('default', 'admin', 'enable', by);
      expect((await service.send()).status).toBe(200);
    }
    await store.changeKey('default', 'admin', 'revoke', by);
    await store.changeKey('default', 'admin', 'enable', by);
    expect((await service.send()).status, 'nothing brings a revoked key back').toBe(401);
  });

  test('a rotation: the old key until its new end, the successor from the next request on', async () => {
    const service = await startService({ logLevel: 'info' });
    const { send, clock, keys } = service;
    const { store } = await storeOf(service);
    const { secret, key } = newKey('successor', { type: 'admin' });
    expect((await send({ key: secret })).status).toBe(401);
    await store.rotateKey('default', 'admin', key, startMs + 1000, by);
    expect((await send({ key: secret })).status).toBe(200);
    clock.nowMs = startMs + 999;
    expect((await send({ key: keys.admin })).status).toBe(200);
    clock.nowMs = startMs + 1000;
    expect((await send({ key: keys.admin })).status).toBe(401);
    expect((await send({ key: secret })).status).toBe(200);
  });
});
