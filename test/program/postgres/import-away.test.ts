import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { programFile, runCli } from '../../support/cli/cli.js';
import { ownPostgres } from '../../support/postgres/nodes.js';
import { newestPostgres } from '../../support/postgres/postgres-server.js';

const newest = newestPostgres();

/** More than one batch. */
const half = 6_000;

const lines = (from: number) =>
  Array.from({ length: half }, (_, at) => `{"id":"q-${from + at}","caller":"web"}\n`).join('');

test('an import continues after the database was unavailable and counts every query once', async () => {
  const server = await ownPostgres(newest);
  const env = { DATABASE_URL: server.url() };
  const create = await runCli(['project', 'create', 'Docs', '--id', 'docs'], { env });
  expect(create).toMatchObject({ status: 0 });
  const child = spawn(process.execPath, [programFile, 'import', '-', '--project', 'docs'], {
    env: { PATH: process.env['PATH'], ...env },
  });
  try {
    const ended = once(child, 'close');
    const printed = text(child.stdout);
    // What it says of a bad line shows that it has found its project and reads.
    child.stdin.write('no query\n');
    await once(child.stderr, 'data');
    await server.kill();
    child.stdin.write(lines(0));
    const [said] = await once(child.stderr, 'data');
    expect(String(said)).toMatch(/Trying again in 0\.25 s\.\n/);
    await server.start();
    child.stdin.end(lines(half));
    expect((await ended)[0]).toBe(1);
    expect(await printed).toBe('12,001 read, 12,000 recorded, 0 duplicates, 1 bad\n');
  } finally {
    child.kill('SIGKILL');
  }
  const { stdout } = await runCli(['stats', 'docs', '--json'], { env });
  expect(JSON.parse(stdout)).toMatchObject({ web: 2 * half, total: 2 * half });
  expect(await runCli(['verify'], { env })).toMatchObject({ status: 0 });
});
