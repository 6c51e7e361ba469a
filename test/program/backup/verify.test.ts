import { describe, expect, test } from 'vitest';
import { BUCKET_WIDTHS_MS, bucketWidthMs } from '../../../src/domain/counting/buckets.js';
import { dayMs } from '../../../src/domain/time/duration.js';
import { alter, firstRow, placeWithSample, project, succeed } from '../../support/cli/cli-place.js';

interface Counter {
  readonly level: number;
  readonly bucket: number;
  readonly web: number;
  readonly api: number;
  readonly other: number;
}

const someCounter =
  'SELECT * FROM query_counter WHERE level = 4 AND web > 0 AND other > 0 ORDER BY bucket LIMIT 1';
const thatCounter = `(project, level, bucket) IN (SELECT project, level, bucket FROM (${someCounter}))`;

const startOf = ({ level, bucket }: Counter) => new Date(bucket * bucketWidthMs(level)).toISOString();

describe('verify', () => {
  test.concurrent('finds no difference in an imported sample', async () => {
    const place = await placeWithSample();
    expect(await place.run(['verify'])).toEqual({
      status: 0,
      signal: null,
      stdout: '30,269 queries in 1 project: every counter is what a recount gives\n',
      stderr: '',
    });
    const { stdout } = await succeed(place.run(['verify', '--json']));
    expect(JSON.parse(stdout)).toEqual({
      projects: 1,
      queries: 30_269,
      importedQueries: 0,
      damage: [],
      differences: [],
      differencesTotal: 0,
    });
  });

  test.concurrent('reports the project, bucket and difference of a changed counter, also as JSON', async () => {
    const place = await placeWithSample();
    const counter = firstRow(place, someCounter) as unknown as Counter;
    const { level, bucket, web, api, other } = counter;
    alter(place, `UPDATE query_counter SET web = web + 7, other = other - 1 WHERE ${thatCounter}`);
    expect(await place.run(['verify'])).toMatchObject({
      status: 1,
      stdout:
        `project ${project}, bucket ${startOf(counter)} (86,400,000 ms wide): ` +
        `web +7 (counter ${web + 7}, recounted ${web}), other -1 (counter ${other - 1}, recounted ${other})\n` +
        '30,269 queries in 1 project: 1 counter differs from a recount\n',
    });
    const { status, stdout } = await place.run(['verify', '--json']);
    expect(status).toBe(1);
    expect(JSON.parse(stdout)).toEqual({
      projects: 1,
      queries: 30_269,
      importedQueries: 0,
      damage: [],
      differencesTotal: 1,
      differences: [
        {
          projectId: project,
          level,
          bucket,
          bucketStart: startOf(counter),
          bucketWidthMs: dayMs,
          counted: { web: web + 7, api, other: other - 1 },
          recounted: { web, api, other },
        },
      ],
    });
  });

  test.concurrent('finds a deleted counter', async () => {
    const place = await placeWithSample();
    const counter = firstRow(place, someCounter) as unknown as Counter;
    alter(place, `DELETE FROM query_counter WHERE ${thatCounter}`);
    const { status, stdout } = await place.run(['verify']);
    expect(status).toBe(1);
    expect(stdout).toContain(
      `project ${project}, bucket ${startOf(counter)} (86,400,000 ms wide): ` +
        `web -${counter.web} (counter 0, recounted ${counter.web})`,
    );
  });

  test.concurrent('reports the caller of a caller counter', async () => {
    const place = await placeWithSample();
    const some = `SELECT level, bucket, caller.name AS caller, queries FROM caller_counter
      JOIN caller ON caller.number = caller_counter.caller WHERE level = 4 ORDER BY queries DESC LIMIT 1`;
    const counter = firstRow(place, some) as unknown as Counter & { caller: string; queries: number };
    alter(
      place,
      `UPDATE caller_counter SET queries = queries + 2 WHERE level = 4 AND bucket = ${counter.bucket}
       AND caller = (SELECT number FROM caller WHERE name = '${counter.caller}')`,
    );
    const { status, stdout } = await place.run(['verify']);
    expect(status).toBe(1);
    expect(stdout).toBe(
      `project ${project}, bucket ${startOf(counter)} (86,400,000 ms wide), caller ${counter.caller}: ` +
        `other +2 (counter ${counter.queries + 2}, recounted ${counter.queries})\n` +
        '30,269 queries in 1 project: 1 counter differs from a recount\n',
    );
    const found = JSON.parse((await place.run(['verify', '--json'])).stdout) as { differences: object[] };
    expect(found.differences).toMatchObject([{ caller: counter.caller, level: 4 }]);
  });

  test.concurrent('finds a counter of an unknown project', async () => {
    const place = await placeWithSample();
    alter(
      place,
      'INSERT INTO query_counter (project, level, bucket, web, api, other) VALUES (99, 0, 0, 0, 1, 0)',
    );
    const { status, stdout } = await place.run(['verify']);
    expect(status).toBe(1);
    expect(stdout).toContain(
      'project (none), bucket 1970-01-01T00:00:00.000Z (1 ms wide): api +1 (counter 1, recounted 0)\n',
    );
  });

  test.concurrent('finds a deleted query at every bucket width', async () => {
    const place = await placeWithSample();
    const web = 'SELECT id, occurred_at FROM query WHERE caller = 0 ORDER BY occurred_at LIMIT 1';
    const { occurred_at: time } = firstRow(place, web);
    alter(place, `DELETE FROM query WHERE id IN (SELECT id FROM (${web}))`);
    const { status, stdout } = await place.run(['verify']);
    expect(status).toBe(1);
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(BUCKET_WIDTHS_MS.length + 1);
    expect(lines[0]).toMatch(
      new RegExp(
        `^project ${project}, bucket ${new Date(Number(time)).toISOString()} \\(1 ms wide\\): web \\+1 `,
      ),
    );
    expect(lines.at(-1)).toBe('30,268 queries in 1 project: 6 counters differ from a recount');
  });
});
