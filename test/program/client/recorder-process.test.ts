/** What happens to queued queries when the recording process ends. */
import { mkdir, readdir, symlink, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runCommand, startCommand } from '../../support/cli/cli.js';
import { makeKey, placeWithProject, project, recordedIn } from '../../support/cli/cli-place.js';
import { freePort } from '../../support/free-port.js';
import { startHttpServer } from '../../support/http-server.js';
import { temporaryFolder } from '../../support/temporary.js';
import { root } from '../../tidy/sources.js';

const client = JSON.stringify(join(root, 'clients/javascript/dist/index.js'));
const spool = JSON.stringify(join(root, 'clients/javascript/dist/spool.js'));

/** A program that creates a recorder of the built client and runs `code`. */
function program(options: object, then: string, more = ''): string[] {
  return [
    '--input-type=module',
    '--eval',
    `import { createRecorder } from ${client};
     import { openSpool } from ${spool};
     const recorder = createRecorder({
       ...${JSON.stringify({ projectId: project, ...options })},
       onDrop: (queries, { code }) => console.log(code, queries.length),
       ${more}
     });
     const record = (count, name = 'event') => {
       for (let at = 0; at < count; at++) recorder.record({ id: name + '-' + at, caller: 'web' });
     };
     ${then}`,
  ];
}

const run = (args: readonly string[]) => runCommand(process.execPath, args, { hangMs: 60_000 });

async function place() {
  const made = await placeWithProject();
  const server = await made.serve();
  return { ...made, url: server.url, key: await makeKey(made, 'recording') };
}

/** A server that accepts requests and never responds. */
const silentServer = () => startHttpServer();

describe('a process that ends normally', () => {
  test('loses nothing and waits only for responses', async () => {
    const { url, key, ...there } = await place();
    const outcome = await run(program({ url, key, delayMs: 1_000_000 }, 'record(2500);'));
    expect(outcome).toMatchObject({ status: 0, stdout: '', stderr: '' });
    expect(recordedIn(there)).toBe(2500);
  });

  test('ends even if the server is down, and reports the lost queries', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const options = { url, key: 'key', closeTimeoutMs: 300, retryBaseMs: 1_000_000, retryMaxMs: 1_000_000 };
    expect(await run(program(options, 'record(70);'))).toMatchObject({ status: 0, stdout: 'closed 70\n' });
  });

  test('ends even if the server never responds, and reports the lost queries', async () => {
    const options = {
      url: await silentServer(),
      key: 'key',
      timeoutMs: 300,
      closeTimeoutMs: 300,
      queueMax: 50,
      batchMax: 10,
    };
    const { status, stdout } = await run(program(options, 'record(70);'));
    expect([status, stdout]).toEqual([0, `${'queue-full 1\n'.repeat(20)}closed 50\n`]);
  });

  test('is not kept alive by an idle recorder', async () => {
    const { url, key, ...there } = await place();
    const options = { url, key, delayMs: 1_000_000 };
    const outcome = await run(program(options, 'record(1); await recorder.flush(); console.log("flushed");'));
    expect(outcome).toMatchObject({ status: 0, stdout: 'flushed\n' });
    expect(recordedIn(there)).toBe(1);
  });
});

test('without callbacks, a process that ends says once why its queries are not counted', async () => {
  const there = await place();
  const record = "recorder.record({ id: 'a', caller: 'web' });";
  const twoDaysAhead = 'const { now } = Date; Date.now = () => now() + 2 * 86_400_000;';
  const causes: readonly [wrong: object, then: string, why: RegExp][] = [
    [{ key: 'cs_recording_wrong' }, record, /\(closed\): .* failed: The API key is/],
    [{ projectId: 'other' }, record, /\(closed\): .* failed: There is no such project/],
    [
      // Closing gives up after three of its ten seconds.
      { url: 'http://127.0.0.1:1', closeTimeoutMs: 3000 },
      record,
      /\(closed\): .* failed: No response from http:\/\/127\.0\.0\.1:1: /,
    ],
    [{}, twoDaysAhead + record, /\(refused\): .* ahead of the server's clock\. Is the clock/],
    [{}, "recorder.record({ id: 'a', caller: 'Slack' });", /\(invalid\): caller: "Slack" is not/],
    [{}, "recorder.record({ id: 7, caller: 'web' });", /\(invalid\): id: 7 is not a string/],
  ];
  const ended = causes.map(async ([wrong, then, why]) => {
    const options = { url: there.url, key: there.key, ...wrong };
    const { status, stderr } = await run(program(options, then, 'onDrop: undefined,'));
    expect([status, stderr.split('\n').length], stderr).toEqual([0, 2]);
    expect(stderr).toMatch(/^caller-stats: 1 query is not counted /);
    expect(stderr).toMatch(why);
  });
  await Promise.all(ended);
  expect(recordedIn(there)).toBe(0);
});

test('closing the recorder before process.exit loses nothing', async () => {
  const { url, key, ...there } = await place();
  const outcome = await run(program({ url, key }, 'record(500); await recorder.close(); process.exit(3);'));
  expect(outcome).toMatchObject({ status: 3, stdout: '' });
  expect(recordedIn(there)).toBe(500);
});

describe('a process that ends before the recorder is closed reports what is lost', () => {
  test.each([
    ['process.exit', 'process.exit(3);', 3],
    ['process.exit during a request', 'await recorder.flush({ timeoutMs: 1 }); process.exit(3);', 3],
    ['an error that nothing catches', "throw new Error('own');", 1],
    [
      'process.exit after a close that took too long',
      'await recorder.close({ timeoutMs: 1 }); process.exit(3);',
      3,
    ],
  ])('%s', async (_, then, status) => {
    const options = { url: await silentServer(), key: 'key', delayMs: 0 };
    expect(await run(program(options, `record(70); ${then}`))).toMatchObject({
      status,
      stdout: 'closed 70\n',
    });
  });

  test('without callbacks', async () => {
    const options = { url: await silentServer(), key: 'key' };
    const { status, stderr } = await run(
      program(options, 'record(70); process.exit();', 'onDrop: undefined,'),
    );
    const said = 'caller-stats: 70 queries are not counted (closed): no answer\n';
    expect([status, stderr]).toEqual([0, said]);
  });

  test('but what a spool keeps is sent by the next process', async () => {
    const { url, key, ...there } = await place();
    const option = `spool: openSpool(${JSON.stringify(join(await temporaryFolder(), 'spool'))}),`;
    const outcome = await run(program({ url, key }, 'record(40); process.exit(3);', option));
    expect(outcome).toMatchObject({ status: 3, stdout: 'spooled 40\n' });
    await run(program({ url, key }, '', option));
    expect(recordedIn(there)).toBe(40);
  });
});

describe('with a spool', () => {
  async function spoolFolder(): Promise<{ path: string; option: string }> {
    const path = join(await temporaryFolder(), 'spool');
    return { path, option: `spool: openSpool(${JSON.stringify(path)}),` };
  }

  /** Starts a process whose server never responds, and kills it when it has recorded. */
  async function runAndKill(key: string, then: string, more: string): Promise<void> {
    const away = { url: await silentServer(), key, delayMs: 0 };
    const code = `${then} console.log('recorded'); setInterval(() => {}, 1000);`;
    const started = startCommand(process.execPath, program(away, code, more));
    await started.printed(/recorded/);
    process.kill(started.pid, 'SIGKILL');
    await started.ended;
  }

  test('after a kill the next process sends the queries', async () => {
    const { url, key, ...there } = await place();
    const { path, option } = await spoolFolder();
    await runAndKill(key, 'record(300);', option);
    // The kill also left an incomplete line.
    const [file = ''] = (await readdir(path)).filter((name) => name.endsWith('.ndjson'));
    await writeFile(join(path, file), '{"id":"torn', { flag: 'a' });
    const again = await run(program({ url, key }, "record(5, 'later'); await recorder.close();", option));
    expect(again).toMatchObject({ status: 0, stdout: '', stderr: '' });
    expect(recordedIn(there)).toBe(305);
    expect(await readdir(path)).toEqual([]);
  });

  test('queries that could not be sent stay in the spool', async () => {
    const { url, key, ...there } = await place();
    const { option } = await spoolFolder();
    const away = { url: `http://127.0.0.1:${await freePort()}`, key, closeTimeoutMs: 0 };
    expect(await run(program(away, 'record(40);', option))).toMatchObject({ stdout: 'spooled 40\n' });
    await run(program({ url, key }, '', option));
    expect(recordedIn(there)).toBe(40);
  });

  test('containers share one, by links and relative paths, with the same process id and the module loaded twice', async () => {
    const { url, key, ...there } = await place();
    const { path, option } = await spoolFolder();
    await mkdir(path);
    await symlink(path, `${path}-link`);
    const twice = (name: string, address: string): string => `
      Object.defineProperty(process, 'pid', { value: 1 });
      process.chdir(${JSON.stringify(dirname(path))});
      const again = await import(${spool} + '?again');
      const open = [openSpool, again.openSpool].map((open) => open(${JSON.stringify(address)}));
      process.chdir('/');
      for (const [at, spool] of open.entries()) {
        const other = createRecorder({ url: ${JSON.stringify(url)}, projectId: 'docs', key: 'wrong', spool, onError: () => {} });
        for (let id = 0; id < 25; id++) other.record({ id: '${name}-' + at + '-' + id, caller: 'web' });
      }`;
    await Promise.all([
      runAndKill(key, twice('first', `${path}-link`), ''),
      runAndKill(key, twice('second', 'spool'), ''),
    ]);
    // A minute later.
    for (const name of await readdir(path)) await utimes(join(path, name), 0, 0);
    const both = [run(program({ url, key }, '', option)), run(program({ url, key }, '', option))];
    for (const outcome of await Promise.all(both))
      expect(outcome).toMatchObject({ status: 0, stdout: '', stderr: '' });
    expect(recordedIn(there)).toBe(100);
  });
});
