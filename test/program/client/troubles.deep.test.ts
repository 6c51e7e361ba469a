/** Troubles that last: of the server, the network, the key and the process. Recorders are processes of their own and have real servers. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createSocketServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { sharedByTests, whenOver } from '../../support/cleanup.js';
import { type Outcome, runCommand, startCommand } from '../../support/cli/cli.js';
import { makeKey, type Place, placeWithProject, project, recordedIn } from '../../support/cli/cli-place.js';
import { freePort } from '../../support/free-port.js';
import { temporaryFolder } from '../../support/temporary.js';
import { root } from '../../tidy/sources.js';

const client = JSON.stringify(join(root, 'clients/javascript/dist/index.js'));
const spool = JSON.stringify(join(root, 'clients/javascript/dist/spool.js'));

const lastsMs = 6_000;
const awayMs = 30_000;
const hangMs = 150_000;

/** A recorder of the built client, and code that uses it. */
function program(options: object, then: string, more = ''): string[] {
  const given = JSON.stringify({ projectId: project, ...options });
  return [
    '--input-type=module',
    '--eval',
    `import { createRecorder } from ${client};
     import { openSpool } from ${spool};
     import { setTimeout as pause } from 'node:timers/promises';
     const recorder = createRecorder({ ...${given}, ${more} });
     const record = (count, name) => {
       for (let at = 0; at < count; at++) recorder.record({ id: name + '-' + at, caller: 'web' });
     };
     ${then}`,
  ];
}

/** 20 questions, most of them while there is trouble. It is over when close tries for the last time: it begins a second late, with the first batch. */
const questions = `
  for (let at = 0; at < 20; at++) {
    record(1, 'question ' + at);
    await pause(${(lastsMs + 2_000) / 20});
  }
  console.log(await recorder.close());`;

type Handle = (response: ServerResponse, request: IncomingMessage) => void;

const reply =
  (status: number, body: string, headers: Record<string, string> = {}): Handle =>
  (response) =>
    void response.writeHead(status, headers).end(body);

/** The answers of a trouble, and what the recorder says of it. */
const TROUBLES: Readonly<Record<string, readonly [Handle, RegExp]>> = {
  '503 of a proxy': [reply(503, '<h1>Busy</h1>', { 'retry-after': '1' }), /answered 503/],
  '429 for longer than close waits': [
    reply(429, '{"error":"Slow down."}', { 'retry-after': '3600' }),
    /Slow down\./,
  ],
  'connections that are cut': [(response) => response.socket?.resetAndDestroy(), /No response from/],
  'a key that is wrong': [reply(401, '{"error":"The key is revoked."}'), /The key is revoked\..* Check key/],
  'a sign-in page': [
    reply(200, '<html>Log in</html>', { 'content-type': 'text/html' }),
    /answered 200.*<html>.* Check url/,
  ],
  'a redirect': [
    reply(301, '', { location: 'https://new.test/v1/analytics/x' }),
    /redirects to https:\/\/new\.test\/v1\/analytics\/x, and redirects are not followed/,
  ],
};

async function placeWithKey(): Promise<Place & { key: string; url: string }> {
  const place = await placeWithProject();
  const { url } = await place.serve();
  return { ...place, url, key: await makeKey(place, 'recording') };
}

/** Answers so for some seconds, and forwards to the server then. */
async function front(target: string, handle: Handle): Promise<string> {
  let begins: number | undefined;
  const server = createServer(async (near, answer) => {
    const parts: Buffer[] = [];
    for await (const part of near) parts.push(part as Buffer);
    // From the first request on: a busy machine starts the process late.
    begins ??= performance.now();
    if (performance.now() - begins < lastsMs) return handle(answer, near);
    const headers = Object.fromEntries(
      ['authorization', 'content-type', 'content-encoding'].flatMap((name) => {
        const value = near.headers[name];
        return typeof value === 'string' ? [[name, value]] : [];
      }),
    );
    const response = await fetch(`${target}${near.url}`, {
      method: 'POST',
      headers,
      body: Buffer.concat(parts),
    });
    answer.writeHead(response.status, { 'content-type': 'application/json' }).end(await response.text());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  whenOver(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const run = (args: readonly string[]): Promise<Outcome> => runCommand(process.execPath, args, { hangMs });

describe('for some seconds', () => {
  /** At the same time, because most of it is waiting. */
  const outcomes = sharedByTests(async () => {
    const runs = Object.entries(TROUBLES).map(async ([what, [handle]]) => {
      const place = await placeWithKey();
      const outcome = await run(program({ url: await front(place.url, handle), key: place.key }, questions));
      return [what, { ...outcome, counted: recordedIn(place) }] as const;
    });
    return new Map(await Promise.all(runs));
  }, hangMs);

  test.each(Object.entries(TROUBLES))('%s', (what, [, said]) => {
    const { status, stdout, stderr, counted } = outcomes().get(what) ?? {};
    expect({ status, stdout, counted, stderr }).toMatchObject({ status: 0, stdout: 'true\n', counted: 20 });
    expect(stderr).toMatch(said);
    expect(stderr).toContain('work again');
    expect(stderr?.trim().split('\n')).toHaveLength(2);
  });
});

test(
  'the server is away for half a minute',
  async () => {
    const place = await placeWithProject();
    const key = await makeKey(place, 'recording');
    const port = await freePort();
    const recorder = run(
      program(
        { url: `http://127.0.0.1:${port}`, key },
        `record(50, 'before'); await pause(${awayMs + 2_000}); record(50, 'after');`,
      ),
    );
    await wait(awayMs);
    await place.spawnServer(['--port', String(port)]);
    expect(await recorder).toMatchObject({ status: 0, stdout: '' });
    expect(recordedIn(place)).toBe(100);
  },
  hangMs,
);

describe('what never answers is named, and close ends', () => {
  const closing = `record(3, 'lost'); console.log(await recorder.close({ timeoutMs: 1000 }));`;

  test('a server that accepts connections alone', async () => {
    const server = createSocketServer(() => {});
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    whenOver(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { status, stdout, stderr } = await run(
      program({ url, key: 'k', timeoutMs: 300 }, `${closing} process.exit();`),
    );
    expect([status, stdout]).toEqual([0, 'false\n']);
    expect(stderr).toMatch(/No response from .*no answer in 300 ms/);
    expect(stderr).toMatch(/3 queries are not counted \(closed\)/);
  });

  test('a name without an address', async () => {
    const { status, stdout, stderr } = await run(program({ url: 'http://stats.invalid', key: 'k' }, closing));
    expect([status, stdout]).toEqual([0, 'false\n']);
    expect(stderr).toMatch(/No response from http:\/\/stats\.invalid: .*(ENOTFOUND|EAI_AGAIN)/);
    expect(stderr).toMatch(/3 queries are not counted \(closed\)/);
  });
});

describe('killed with a spool while the server is away, the next process sends all', () => {
  const option = (folder: string): string => `spool: openSpool(${JSON.stringify(join(folder, 'spool'))})`;
  const lives = "console.log('ready'); setInterval(() => {}, 1000);";
  const away = async () => ({ url: `http://127.0.0.1:${await freePort()}`, key: 'k', retryMaxMs: 200 });

  async function leave(args: readonly string[], command: readonly string[] = []): Promise<void> {
    const [first = process.execPath, ...more] = [...command, process.execPath, ...args];
    const started = startCommand(first, more);
    await started.printed(/ready/);
    process.kill(started.pid, 'SIGKILL');
    await started.ended;
  }

  test('killed, frozen, and ended without a word', async () => {
    const { url, key, ...place } = await placeWithKey();
    const folder = await temporaryFolder();
    await leave(program(await away(), `record(50, 'killed'); ${lives}`, option(folder)));
    const frozen = startCommand(
      process.execPath,
      program(await away(), `record(50, 'frozen'); ${lives}`, option(folder)),
    );
    await frozen.printed(/ready/);
    for (const signal of ['SIGSTOP', 'SIGKILL'] as const) process.kill(frozen.pid, signal);
    await frozen.ended;
    await run(program(await away(), "record(50, 'exited'); process.exit();", option(folder)));
    await run(program(await away(), "record(50, 'aborted'); process.abort();", option(folder)));
    expect(await run(program({ url, key }, 'await recorder.close();', option(folder)))).toMatchObject({
      status: 0,
      stderr: '',
    });
    expect(recordedIn(place)).toBe(200);
  });

  test(
    'two containers, whose processes are both number 1, and a third',
    async () => {
      const unshare = 'unshare --map-root-user --user --pid --fork --kill-child --mount-proc'.split(' ');
      const [command = '', ...options] = unshare;
      // Where that is not allowed, at least the folder is shared.
      const has = (await runCommand(command, [...options, 'true']).catch(() => undefined))?.status === 0;
      const container = has ? unshare : [];
      const { url, key, ...place } = await placeWithKey();
      const folder = await temporaryFolder();
      for (const name of 'ab') {
        const code = `record(50, '${name}'); if (${has} && process.pid !== 1) throw new Error('not alone'); ${lives}`;
        await leave(program(await away(), code, option(folder)), container);
      }
      // Nobody outside of a container sees whether its processes run: their locks grow old.
      const [first = process.execPath, ...more] = [
        ...container,
        process.execPath,
        ...program({ url, key }, 'await pause(80_000); await recorder.close();', option(folder)),
      ];
      expect(await runCommand(first, more, { hangMs })).toMatchObject({ status: 0, stderr: '' });
      expect(recordedIn(place)).toBe(100);
    },
    hangMs,
  );
});
