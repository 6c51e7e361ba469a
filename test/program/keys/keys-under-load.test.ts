/** Changes of keys under load take effect from the next request on. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../../src/storage/open.js';
import type { KeyChange, Store } from '../../../src/storage/ports/store.js';
import { QUERIES, type Service, STATS, startMs, startService } from '../../support/http/http.js';
import { newKey } from '../../support/http/http-keys.js';
import { WatchedLoad } from '../../support/storage/watched-load.js';

const senders = 12;
const by = { name: 'a test', address: null, at: startMs };

/** A finished request, and whether it began after the change or ended before it. */
interface Finished {
  readonly status: number;
  readonly beganAfter: boolean;
  readonly endedBefore: boolean;
  readonly recording: boolean;
}

/** Sends requests over several connections without a pause, until stopped. */
function sendContinuously({ connect, read, keys }: Service, changed: () => boolean) {
  const ended: Finished[] = [];
  let stopping = false;
  const send = async (sender: number): Promise<void> => {
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
      load.look();
    }
    connection.close();
  };
  const load = new WatchedLoad(Promise.all(Array.from({ length: senders }, (_, sender) => send(sender))));
  return {
    ended,
    /** Resolves when `count` more requests, all of which began after the call, have ended. */
    async more(count: number): Promise<void> {
      const enough = ended.length + senders + count;
      await load.until(() => ended.length >= enough);
    },
    async stop(): Promise<void> {
      stopping = true;
      await load.end();
    },
  };
}

async function changeUnderLoad(service: Service, store: Store, change: KeyChange): Promise<Finished[]> {
  let changed = false;
  // The first connection makes the service listen.
  (await service.connect()).close();
  const load = sendContinuously(service, () => changed);
  await load.more(50);
  await store.directory.changeKey('default', 'admin', change, by);
  changed = true;
  await load.more(100);
  await load.stop();
  return load.ended;
}

const listStatuses = (ended: readonly Finished[]) => [...new Set(ended.map(({ status }) => status))];

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
])('a change through %s', (_what, storeOf) => {
  test.each<KeyChange>(['revoke', 'disable'])(
    '%s: later requests are rejected, earlier ones are recorded',
    async (change) => {
      const service = await startService({ logLevel: 'info' });
      const { store } = await storeOf(service);
      const ended = await changeUnderLoad(service, store, change);
      const after = ended.filter(({ beganAfter }) => beganAfter);
      const before = ended.filter(({ endedBefore }) => endedBefore);
      expect(listStatuses(before)).toEqual([200]);
      expect(listStatuses(after)).toEqual([401]);
      expect([before.length >= 50, after.length >= 100]).toEqual([true, true]);
      const recorded = ended.filter(({ status, recording }) => recording && status === 200).length;
      expect((await service.store.maintenance.verify()).queries, 'what was refused was not recorded').toBe(
        recorded,
      );
    },
  );

  test('enable: later requests are accepted', async () => {
    const service = await startService({ logLevel: 'info' });
    const { store } = await storeOf(service);
    await store.directory.changeKey('default', 'admin', 'disable', by);
    const ended = await changeUnderLoad(service, store, 'enable');
    expect(listStatuses(ended.filter(({ endedBefore }) => endedBefore))).toEqual([401]);
    expect(listStatuses(ended.filter(({ beganAfter }) => beganAfter))).toEqual([200]);
  });

  test('rotate: the new key works immediately, the old one until its new expiry time', async () => {
    const service = await startService({ logLevel: 'info' });
    const { send, clock, keys } = service;
    const { store } = await storeOf(service);
    const { secret, key } = newKey('successor', { type: 'admin' });
    expect((await send({ key: secret })).status).toBe(401);
    await store.directory.rotateKey('default', 'admin', key, startMs + 1000, by);
    expect((await send({ key: secret })).status).toBe(200);
    clock.nowMs = startMs + 999;
    expect((await send({ key: keys.admin })).status).toBe(200);
    clock.nowMs = startMs + 1000;
    expect((await send({ key: keys.admin })).status).toBe(401);
    expect((await send({ key: secret })).status).toBe(200);
  });
});
