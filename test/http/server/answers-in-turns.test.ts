/** What an answer takes of the event loop after its request has begun waits for its turn, so that recordings keep their share. */
import { mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import fastifyStatic from '@fastify/static';
import fastify from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { addCompression } from '../../../src/http/server/compression.js';
import { addFile, paceFiles } from '../../../src/http/server/files.js';
import { restoreMethods } from '../../../src/http/server/resource.js';

const pieceBytes = 64 * 1024;
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

async function serveFile(turns: Turns, change?: (text: string) => string) {
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
  paceFiles(app, turns.turn);
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

test('each piece of a file waits for a turn of its own', async () => {
  const turns = new Turns();
  const { url } = await serveFile(turns);
  const asked = fetch(url).then((answer) => answer.text());
  let given = 0;
  const giveAll = async () => {
    for (;;) {
      await turns.untilAsked();
      expect(await Promise.race([asked, setImmediate('unfinished')])).toBe('unfinished');
      turns.give();
      given++;
    }
  };
  expect(await Promise.race([asked, giveAll()])).toBe(text);
  expect(given).toBe(Math.ceil(text.length / pieceBytes));
});

test('a file is closed if its client leaves while a piece waits', async () => {
  const turns = new Turns();
  const { url, file } = await serveFile(turns);
  const request = get(url).on('error', () => {});
  await turns.untilAsked();
  expect(isOpen(file)).toBe(true);
  request.destroy();
  while (isOpen(file)) await setImmediate();
  turns.give();
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
