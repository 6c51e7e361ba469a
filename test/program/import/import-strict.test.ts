import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { PROGRAM } from '../../support/cli/cli.js';
import { placeWithProject, project, recordedIn, succeed } from '../../support/cli/cli-place.js';
import { sampleFile, sampleLines } from '../../support/sample.js';

const strictImport = ['import', '--project', project, '--strict'];
/** More good lines than a batch has, and then a bad one. */
const almostGood = `${sampleLines().slice(0, 12_000).join('\n')}\nno\n`;

describe('import --strict records nothing if', () => {
  test.concurrent.each<
    [what: string, args: string[], files: Record<string, string | Uint8Array>, message: string]
  >([
    [
      'a line of a file is bad',
      ['q.ndjson'],
      { 'q.ndjson': almostGood },
      'q.ndjson:12001: is not JSON: "no"\n',
    ],
    [
      'a line of the last file is bad',
      [sampleFile, 'last.csv'],
      { 'last.csv': 'id,caller\na,web\nb\n' },
      'last.csv:3: ',
    ],
    [
      'a file is truncated',
      [sampleFile, 'q.ndjson.gz'],
      { 'q.ndjson.gz': gzipSync(sampleLines().join('\n')).subarray(0, -1000) },
      'cut short',
    ],
  ])('%s', async (_what, args, files, message) => {
    const place = await placeWithProject();
    for (const [name, content] of Object.entries(files)) await writeFile(place.path(name), content);
    const { status, stdout, stderr } = await place.run([...strictImport, ...args]);
    expect(stderr).toContain(message);
    expect({ status, stdout }).toEqual({ status: 1, stdout: expect.stringContaining(' 0 recorded, ') });
    expect(recordedIn(place)).toBe(0);
  });

  test.concurrent('a line on stdin is bad', async () => {
    const place = await placeWithProject();
    const { status, stderr } = await place.run([...strictImport, '-'], { input: gzipSync(almostGood) });
    expect(stderr).toContain('stdin:12001: is not JSON: "no"\n');
    expect(status).toBe(1);
    expect(recordedIn(place)).toBe(0);
  });
});

test.concurrent('import --strict records everything if all files and stdin are good', async () => {
  const place = await placeWithProject();
  await writeFile(place.path('more.csv'), 'id,caller\na,web\nb,slack\n');
  const { stdout, stderr } = await succeed(
    place.run([...strictImport, sampleFile, '-', 'more.csv'], { input: '{"id":"c","caller":"api"}' }),
  );
  expect(stderr).toBe('');
  expect(stdout).toBe('30,877 read, 30,272 recorded, 605 duplicates\n');
  await succeed(place.run(['verify']));
});

test.concurrent.each(['SIGTERM', 'SIGINT', 'SIGKILL'] as const)(
  'import --strict leaves no temporary files when ended by %s',
  async (signal) => {
    const place = await placeWithProject();
    const temporary = place.path('temporary');
    await mkdir(temporary);
    const env = { PATH: process.env['PATH'], TMPDIR: temporary, ...place.env };
    const [command, ...first] = PROGRAM;
    const child = spawn(command, [...first, ...strictImport, '-'], { cwd: place.folder, env });
    try {
      // Its input stays open. The error about the first line shows that it is reading.
      child.stdin.write('no query\n');
      await once(child.stderr, 'data');
      child.kill(signal);
      await once(child, 'close');
    } finally {
      child.kill('SIGKILL');
    }
    expect(await readdir(temporary)).toEqual([]);
  },
);
