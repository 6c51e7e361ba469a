/** Looking before an import, importing the exports of other systems, and going back after the wrong file. */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import {
  type Place,
  placeWithProject,
  placeWithSample,
  project,
  recordedIn,
  refusal,
  succeed,
} from '../../support/cli/cli-place.js';
import { EXPORTS, exportedFile, importExport } from '../../support/cli/exports.js';
import { sampleFile, sampleLines } from '../../support/sample.js';
import { isDeep } from '../../support/volume.js';

async function counts(place: Pick<Place, 'run'>, of = project): Promise<unknown> {
  return JSON.parse((await succeed(place.run(['stats', of, '--json']))).stdout);
}

interface DryRun {
  readonly read: number;
  readonly recorded: number;
  readonly duplicates: number;
  readonly bad: number;
  readonly skipped: number;
  readonly months: readonly { readonly month: string; readonly caller: string; readonly queries: number }[];
}

async function dryRun(place: Place, args: readonly string[]): Promise<DryRun> {
  const { stdout } = await place.run(['import', ...args, '--project', project, '--dry-run', '--json']);
  return JSON.parse(stdout) as DryRun;
}

describe('import --dry-run', () => {
  test.concurrent('refuses an unknown project', async () => {
    const place = await placeWithProject();
    const stderr = await refusal(place.run(['import', sampleFile, '--project', 'other', '--dry-run']), 1);
    expect(stderr).toBe('caller-stats: There is no project other.\n');
  });

  test.concurrent('names bad records, fails, and records nothing', async () => {
    const place = await placeWithProject();
    await writeFile(
      place.path('a.ndjson'),
      '{"id":"a","caller":"web","occurredAt":"2026-06-30T23:59:59Z"}\nno\n',
    );
    const { status, stdout, stderr } = await place.run([
      'import',
      'a.ndjson',
      '--project',
      project,
      '--dry-run',
    ]);
    expect(stderr).toBe('a.ndjson:2: is not JSON: "no"\n');
    expect(stdout).toBe(
      'MONTH    CALLER  QUERIES\n2026-06  web           1\nDry run, nothing was recorded: 2 read, 1 to record, 0 duplicates, 1 bad\n',
    );
    expect({ status, recorded: recordedIn(place) }).toEqual({ status: 1, recorded: 0 });
    const strict = await dryRun(place, ['a.ndjson', '--strict']);
    expect(strict).toMatchObject({ recorded: 0, bad: 1, months: [] });
  });

  test.concurrent('says what the import then records, by month and caller', async () => {
    const place = await placeWithProject();
    const temporary = place.path('temporary');
    await mkdir(temporary);
    await writeFile(
      place.path('sample.ndjson'),
      sampleLines()
        .slice(0, isDeep ? 4000 : 500)
        .join('\n'),
    );
    const args = ['import', 'sample.ndjson', '--project', project, '--json'];
    const planned = await succeed(place.spawn([...args, '--dry-run'], { env: { TMPDIR: temporary } }));
    const { months, ...totals } = JSON.parse(planned.stdout) as DryRun;
    expect(recordedIn(place)).toBe(0);
    expect(await readdir(temporary)).toEqual([]);
    const { stdout } = await succeed(place.run(args));
    expect(totals).toEqual({ dryRun: true, ...(JSON.parse(stdout) as object) });
    for (const month of new Set(months.map((one) => one.month))) {
      const [year, number] = month.split('-').map(Number) as [number, number];
      const range = ['--from', `${month}-01`, '--to', new Date(Date.UTC(year, number, 1)).toISOString()];
      const { callers } = JSON.parse(
        (await succeed(place.run(['stats', project, '--callers', '--json', ...range]))).stdout,
      ) as { callers: { caller: string; count: number }[] };
      const counted = Object.fromEntries(callers.map(({ caller, count }) => [caller, count]));
      const said = months
        .filter((one) => one.month === month)
        .map(({ caller, queries }) => [caller, queries]);
      expect(Object.fromEntries(said)).toEqual(counted);
    }
    expect(months.reduce((sum, { queries }) => sum + queries, 0)).toBe(recordedIn(place));
  });
});

describe('the export of', () => {
  test.concurrent.each(EXPORTS.map((exported) => [exported.what, exported] as const))(
    '%s counts questions only, each once, however often it is imported',
    async (_what, exported) => {
      const place = await placeWithProject();
      const { skipped } = exported;
      const all = { read: 3 + skipped, bad: 0, skipped };
      expect(await importExport(place, exported)).toEqual({ ...all, recorded: 3, duplicates: 0 });
      expect(await importExport(place, exported)).toEqual({ ...all, recorded: 0, duplicates: 3 });
      expect(await counts(place)).toEqual({ web: 3, api: 0, other: 0, total: 3 });
    },
  );

  test.concurrent.each(['caddy.log', 'nginx-json.log'])(
    '%s counts requests to the assistant, by caller',
    async (name) => {
      const place = await placeWithProject();
      const log = ['--format', 'access-log', '--path', '^/assistant/', '--site', 'https://docs.example.com'];
      const { stdout } = await succeed(
        place.run(['import', exportedFile(name), '--project', project, ...log]),
      );
      expect(stdout).toBe('4 read, 2 recorded, 0 duplicates, 2 skipped\n');
      const { stdout: callers } = await succeed(place.run(['stats', project, '--callers', '--json']));
      expect(JSON.parse(callers)).toMatchObject({
        callers: [
          { caller: 'slack', count: 1 },
          { caller: 'web', count: 1 },
        ],
      });
    },
  );

  test.concurrent('an event that never occurs is explained', async () => {
    const place = await placeWithProject();
    const args = ['--format', 'umami', '--event', 'question', '--caller', 'web'];
    const { stdout, stderr } = await succeed(
      place.run(['import', exportedFile('umami-website_event.csv'), '--project', project, ...args]),
    );
    expect(stdout).toBe('6 read, 0 recorded, 0 duplicates, 6 skipped\n');
    expect(stderr).toBe(
      'No record was a query: check --where, --event or --path against a record of the file.\n',
    );
  });
});

test.concurrent('a file of bad records names the first 20, and says how many more there are', async () => {
  const place = await placeWithProject();
  await writeFile(place.path('a.ndjson'), 'no\n'.repeat(15));
  await writeFile(place.path('b.ndjson'), `${'no\n'.repeat(1000)}{"id":"a","caller":"web"}\n`);
  const { status, stdout, stderr } = await place.run([
    'import',
    'a.ndjson',
    'b.ndjson',
    '--project',
    project,
  ]);
  const lines = stderr.trimEnd().split('\n');
  expect(lines).toHaveLength(21);
  expect([lines[14], lines[15]]).toEqual(['a.ndjson:15: is not JSON: "no"', 'b.ndjson:1: is not JSON: "no"']);
  expect(lines.at(-1)).toBe('… and 995 more bad records');
  expect({ status, stdout }).toEqual({
    status: 1,
    stdout: '1,016 read, 1 recorded, 0 duplicates, 1,015 bad\n',
  });
});

describe('after importing the wrong file, everything is as before', () => {
  const wrong = 'id,caller,occurredAt\nw-1,web,2016-06-15T12:00:00Z\nw-2,slack,2016-06-15T12:00:01Z\n';
  const right = 'id,caller,occurredAt\nw-2,web,2026-06-15T12:00:00Z\nr-2,web,2026-06-15T12:00:01Z\n';

  test.concurrent('if it was imported into a project of its own, which is then deleted', async () => {
    const place = await placeWithSample();
    const before = await counts(place);
    await writeFile(place.path('wrong.csv'), wrong);
    await writeFile(place.path('right.csv'), right);
    await succeed(place.run(['project', 'create', 'Import', '--id', 'import']));
    await succeed(place.run(['import', 'wrong.csv', '--project', 'import']));
    expect(await counts(place, 'import')).toEqual({ web: 1, api: 0, other: 1, total: 2 });
    await succeed(place.run(['project', 'delete', 'import', '--confirm', 'Import']));
    expect(await counts(place)).toEqual(before);
    const { stdout } = await succeed(place.run(['import', 'right.csv', '--project', project]));
    expect(stdout).toBe('2 read, 2 recorded, 0 duplicates\n');
    await succeed(place.run(['verify']));
  });

  test.concurrent('if the backup from right before is restored', async () => {
    const place = await placeWithSample();
    // As processes, so that none has the database open when it is restored.
    const run = place.spawn;
    const before = await counts({ run });
    await writeFile(place.path('wrong.csv'), wrong);
    await writeFile(place.path('right.csv'), right);
    await succeed(run(['backup', 'before.db']));
    await succeed(run(['import', 'wrong.csv', '--project', project]));
    expect(await counts({ run })).not.toEqual(before);
    await succeed(run(['restore', 'before.db', '--replace']));
    expect(await counts({ run })).toEqual(before);
    // An id of the wrong file can be recorded again.
    const { stdout } = await succeed(run(['import', 'right.csv', '--project', project]));
    expect(stdout).toBe('2 read, 2 recorded, 0 duplicates\n');
    await succeed(run(['verify']));
  });
});
