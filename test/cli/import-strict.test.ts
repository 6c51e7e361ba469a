import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { programFile } from '../support/cli.js';
import { placeWithProject, project, recordedIn, succeed } from '../support/cli-place.js';
import { sampleFile, sampleLines } from '../support/sample.js';

const strictImport = ['import', '--project', project, '--strict'];
/** More good lines than a batch has, and then a bad one. */
const almostGood = `${sampleLines().slice(0, 12_000).join('\n')}\nno\n`;

describe('import --strict records nothing if a record is bad', () => {
  test.concurrent('in a file', async () => {
    const place = await placeWithProject();
    await writeFile(place.path('q.ndjson'), almostGood);
    const { status, stdout, stderr } = await place.run([...strictImport, 'q.ndjson']);
    expect(stderr).toContain('q.ndjson:12001: is not JSON: "no"\n');
    expect({ status, stdout }).toEqual({
      status: 1,
      stdout: '12,001 read, 0 recorded, 0 duplicates, 1 bad\n',
    });
    expect(recordedIn(place)).toBe(0);
  });

  test.concurrent('on stdin', async () => {
    const place = await placeWithProject();
    const { status, stderr } = await place.run([...strictImport, '-'], { input: gzipSync(almostGood) });
    expect(stderr).toContain('stdin:12001: is not JSON: "no"\n');
    expect(status).toBe(1);
    expect(recordedIn(place)).toBe(0);
  });

  test.concurrent('in the last of several files', async () => {
    const place = await placeWithProject();
    await writeFile(place.path('last.csv'), 'id,caller\na,web\nb\n');
    const { status, stderr } = await place.run([...strictImport, sampleFile, 'last.csv']);
    expect(stderr).toContain('last.csv:3: ');
    expect(status).toBe(1);
    expect(recordedIn(place)).toBe(0);
  });

  test.concurrent('or a file is truncated', async () => {
    const place = await placeWithProject();
    const cut = gzipSync(sampleLines().join('\n')).subarray(0, -1000);
    await writeFile(place.path('q.ndjson.gz'), cut);
    const { status, stderr } = await place.run([...strictImport, sampleFile, 'q.ndjson.gz']);
    expect(stderr).toContain('cut short');
    expect(status).toBe(1);
    expect(recordedIn(place)).toBe(0);
  });
});

describe('import --strict records everything if all records are good', () => {
  test.concurrent('in files and on stdin', async () => {
    const place = await placeWithProject();
    await writeFile(place.path('more.csv'), 'id,caller\na,web\nb,slack\n');
    const { stdout, stderr } = await succeed(
      place.run([...strictImport, sampleFile, '-', 'more.csv'], { input: '{"id":"c","caller":"api"}' }),
    );
    expect(stderr).toBe('');
    expect(stdout).toBe('30,877 read, 30,272 recorded, 605 duplicates\n');
    await succeed(place.run(['verify']));
  });
});

test.concurrent.each(['SIGTERM', 'SIGINT', 'SIGKILL'] as const)(
  'import --strict leaves no temporary files when ended by %s',
  async (signal) => {
    const place = await placeWithProject();
    const temporary = place.path('temporary');
    await mkdir(temporary);
    const env = { PATH: process.env['PATH'], TMPDIR: temporary, ...place.env };
    const child = spawn(process.execPath, [programFile, ...strictImport, '-'], { cwd: place.folder, env });
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
