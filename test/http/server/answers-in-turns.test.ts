/** What an answer takes of the event loop after its request has begun waits for its turn, so that recordings keep their share. */
import { mkdtempSync, readdirSync, readlinkSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import fastifyStatic from '@fastify/static';
import fastify from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { addCompression } from '../../../src/http/server/compression.js';
import { addFile, sendFilesFromMemory } from '../../../src/http/server/files.js';
import { restoreMethods } from '../../../src/http/server/resource.js';

const text = 'A page of the documentation. '.repeat(10_000);

/** Turns that come only when they are given. */
class Turns {
  readonly #waiting: (() => void)[] = [];
  #asked = (): void => {};

  readonly turn = () =>
    new Promise<void>((go) => {
      this.#waiting.push(go);
      this.#asked();
    });

  async untilAsked(): Promise<void> {
    if (this.#waiting.length > 0) return;
    await new Promise<void>((asked) => {
      this.#asked = asked;
    });
  }

  /** Gives a turn to what has waited longest. */
  give(): void {
    this.#waiting.shift()?.();
  }
}

async function serveFile({ turn }: Pick<Turns, 'turn'>, change?: (text: string) => string) {
  const folder = mkdtempSync(join(tmpdir(), 'files-'));
  const file = join(folder, 'page.html');
  writeFileSync(file, text);
  const app = fastify({ forceCloseConnections: true });
  onTestFinished(async () => {
    await app.close();
    rmSync(folder, { recursive: true });
  });
  restoreMethods(app);
  await app.register(fastifyStatic, { root: folder, serve: false, cacheControl: false });
  sendFilesFromMemory(app, turn);
  addFile(app, '/page', 'page.html', { folder, caching: 'no-cache', change });
  return { app, file, url: `${await app.listen({ host: '127.0.0.1', port: 0 })}/page` };
}

/** Whether this process has the file open. */
function isOpen(file: string): boolean {
  return readdirSync('/proc/self/fd').some((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === file;
    } catch {
      return false;
    }
  });
}

test('a file waits for its turn', async () => {
  const turns = new Turns();
  const { url } = await serveFile(turns);
  const asked = fetch(url).then((answer) => answer.text());
  expect(await Promise.race([asked, turns.untilAsked()])).toBeUndefined();
  turns.give();
  expect(await asked).toBe(text);
});

test('a part of a file is what the request asks for', async () => {
  const { app } = await serveFile({ turn: async () => {} });
  const ask = (range: string) => app.inject({ url: '/page', headers: { range } });
  expect(await ask('bytes=2-8')).toMatchObject({ statusCode: 206, body: text.slice(2, 9) });
  expect(await ask('bytes=-5')).toMatchObject({ statusCode: 206, body: text.slice(-5) });
  expect((await ask(`bytes=${text.length}-`)).statusCode).toBe(416);
});

test('a file is read once, and again when it is replaced', async () => {
  const { app, file } = await serveFile({ turn: async () => {} });
  const ask = async () => (await app.inject('/page')).body;
  const { atime, mtime } = statSync(file);
  expect(await ask()).toBe(text);
  writeFileSync(file, text.toUpperCase());
  utimesSync(file, atime, mtime);
  expect(await ask()).toBe(text);
  utimesSync(file, atime, new Date(mtime.getTime() + 1_000));
  expect(await ask()).toBe(text.toUpperCase());
  while (isOpen(file)) await setImmediate();
});

test('a file is read and changed once', async () => {
  const changes: string[] = [];
  const { app, file } = await serveFile(new Turns(), (before) => {
    changes.push(before);
    return `${before}changed`;
  });
  const first = await app.inject('/page');
  writeFileSync(file, 'other');
  const second = await app.inject('/page');
  expect([first.body, second.body]).toEqual([`${text}changed`, `${text}changed`]);
  expect(changes).toEqual([text]);
});

test('each text is compressed in a turn, and bytes that stay the same only once', async () => {
  let turns = 0;
  const app = fastify();
  addCompression(app, async () => {
    turns++;
  });
  const bytes = Buffer.from(text);
  app.get('/text', (_request, reply) => reply.type('text/plain').send(text));
  app.get('/bytes', (_request, reply) => reply.type('text/plain').send(bytes));
  const ask = async (url: string) => {
    const { rawPayload } = await app.inject({ url, headers: { 'accept-encoding': 'gzip' } });
    return `${gunzipSync(rawPayload)}`;
  };
  expect([await ask('/text'), await ask('/text')]).toEqual([text, text]);
  expect(turns).toBe(2);
  expect([await ask('/bytes'), await ask('/bytes'), await ask('/bytes')]).toEqual([text, text, text]);
  expect(turns).toBe(3);
});
