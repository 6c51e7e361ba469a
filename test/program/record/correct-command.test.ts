/** `caller-stats correct`, on a database and on a running server. */
import { writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { correctionsListedMax } from '../../../src/domain/limits.js';
import { dayMs } from '../../../src/domain/time/duration.js';
import { makeKey, placeWithProject, project, succeed } from '../../support/cli/cli-place.js';

const LINES = ['web', 'slak', 'slak', 'bot']
  .map((caller, at) => JSON.stringify({ id: `q${at}`, caller, occurredAt: `2024-01-0${at + 1}T00:00:00Z` }))
  .join('\n');

describe('correct', () => {
  test('refuses wrong usage, naming the options, and what does not match', async () => {
    const { run } = await placeWithProject();
    expect(await run(['correct', project, 'remove'])).toMatchObject({ status: 2 });
    const missing = await run(['correct', project, 'rename', '--new-caller', 'My Bot']);
    expect(missing).toMatchObject({ status: 2, stdout: '' });
    for (const problem of [/--reason: is missing/, /--new-caller: is not "web"/, /--ids: is missing/])
      expect(missing.stderr).toMatch(problem);
    const nothing = await run(['correct', project, 'withdraw', '--caller', 'bot', '--reason', 'x']);
    expect(nothing).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/no query that counts matches and would be withdrawn; check the ids/),
    });
    expect(await run(['correct', 'none', 'withdraw', '--caller', 'bot', '--reason', 'x'])).toMatchObject({
      status: 1,
    });
  });

  test('shows, corrects, lists and undoes', async () => {
    const place = await placeWithProject();
    await writeFile(place.path('queries.ndjson'), LINES);
    await writeFile(place.path('ids.txt'), 'q0\nq3\n');
    await succeed(place.run(['import', 'queries.ndjson', '--project', project]));
    const correct = async (...args: string[]) =>
      (await succeed(place.run(['correct', project, ...args, '--reason', 'a test']))).stdout;
    const total = async () =>
      JSON.parse((await succeed(place.run(['stats', project, '--json']))).stdout).total;
    const ids = ['withdraw', '--id', 'one', '--ids', place.path('ids.txt')];
    expect(await correct(...ids, '--dry-run')).toBe(
      'one would withdraw 2 queries: web 1, api 0, other 1\n  bot 1\n  web 1\n' +
        '  from 2024-01-01T00:00:00.000Z to 2024-01-04T00:00:00.000Z\n',
    );
    expect(await total()).toBe(4);
    expect(await correct(...ids)).toMatch(/^one withdrew 2 queries/);
    expect(await total()).toBe(2);
    expect(await correct('rename', '--caller', 'slak', '--new-caller', 'slack')).toMatch(/renamed 2 queries/);
    expect(await correct('undo', '--correction', 'one', '--id', 'two')).toMatch(/^two took back 2 queries/);
    expect(await total()).toBe(4);
    const { stdout } = await succeed(place.run(['correct', project, 'list']));
    expect(stdout).toMatch(/withdraw +2 +undone by two +command line +a test/);
    expect(await place.run(['verify'])).toMatchObject({ status: 0 });
    const yesterday = new Date(Date.now() - dayMs).toISOString().slice(0, 'YYYY-MM-DD'.length);
    const { stdout: changes } = await succeed(place.run(['changes', project, '--since', yesterday]));
    expect(changes).toMatch(/^total +0 +4 +\+4$/m);
    expect(changes).toMatch(/^ +-2 +slak +renamed +command line +\w+: a test$/m);
    expect(changes).toMatch(/^ +\+1 +bot +undone +command line +two: a test$/m);
    const then = await succeed(place.run(['stats', project, '--as-of', yesterday, '--json']));
    expect(JSON.parse(then.stdout)).toEqual({ web: 0, api: 0, other: 0, total: 0 });
    expect(
      await place.run(['changes', project, '--since', 'soon', '--from', '2024-01-01T00:01']),
    ).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/--since: "soon" is neither[\s\S]*--from: .* quarter hour/),
    });
  });

  test('lists all, also more than one answer of a server has', async () => {
    const place = await placeWithProject();
    const ids = Array.from({ length: correctionsListedMax + 1 }, (_, at) => `q${at}`);
    const input = ids.map((id) => JSON.stringify({ id, caller: 'web' })).join('\n');
    await succeed(place.run(['import', '-', '--project', project], { input }));
    const { url } = await place.serve();
    const key = await makeKey(place, 'admin');
    for (const id of ids) {
      const answer = await fetch(`${url}/v1/analytics/${project}/assistant/corrections`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ id, action: 'withdraw', reason: 'a test', ids: [id] }),
      });
      expect(answer.status).toBe(200);
    }
    const list = ['correct', project, 'list', '--json'];
    const stored = await succeed(place.run(list));
    expect(JSON.parse(stored.stdout).map((one: { id: string }) => one.id)).toEqual(ids.toReversed());
    const env = { CALLER_STATS_KEY: key };
    const served = await succeed(place.run([...list, '--url', url], { env }));
    expect(JSON.parse(served.stdout)).toEqual(JSON.parse(stored.stdout));
  });

  test('are in a copy, as often as it is made, with withdrawn ids, imported counts and what was undone', async () => {
    const place = await placeWithProject();
    const input = LINES;
    const counts = 'date,caller,count\n2024-01-01,web,5\n2024-01-02,slack,7\n';
    const history = ['--format', 'counts', '--source', 'old'];
    await succeed(place.run(['import', '-', '--project', project], { input }));
    await succeed(place.run(['import', '-', '--project', project, ...history], { input: counts }));
    const correct = (...args: string[]) =>
      succeed(place.run(['correct', project, ...args, '--reason', 'a test']));
    await correct('withdraw', '--id', 'slak', '--caller', 'slak');
    await correct('withdraw', '--id', 'old', '--source', 'old');
    await correct('rename', '--id', 'bot', '--caller', 'bot', '--new-caller', 'web');
    const [from, to] = [`sqlite:${place.database}`, `sqlite:${place.path('copy.db')}`];
    const there = { input, env: { DATABASE_URL: to } };
    const same = async (...args: string[]) => {
      const { stdout } = await succeed(place.run(args, there));
      expect(stdout).toBe((await succeed(place.run(args))).stdout);
      return stdout;
    };
    for (const [at, total] of [2, 2, 4, 16].entries()) {
      await succeed(place.run(['copy', '--from', from, '--to', to]));
      expect(JSON.parse(await same('stats', project, '--json'))).toMatchObject({ total });
      await same('correct', project, 'list', '--json');
      await same('export', project);
      expect(await place.run(['verify'], there)).toMatchObject({ status: 0 });
      if (at === 1) await correct('undo', '--correction', 'slak');
      if (at === 2) await correct('undo', '--correction', 'old');
    }
    const { stdout } = await succeed(place.run(['import', '-', '--project', project], there));
    expect(stdout).toMatch(/4 read, 0 recorded, 4 duplicates/);
  });

  test('are in an export, which an empty project takes, and a server only without them', async () => {
    const place = await placeWithProject();
    await succeed(place.run(['import', '-', '--project', project], { input: LINES }));
    await writeFile(place.path('ids.txt'), 'q0\nq3\n');
    const reason = ['--reason', 'a "test"'];
    const ids = ['withdraw', '--id', 'ids', '--ids', place.path('ids.txt'), ...reason];
    const renaming = [
      'rename',
      '--id',
      'slak',
      '--caller',
      'slak',
      '--to',
      '2024-01-03',
      '--new-caller',
      'api',
    ];
    await succeed(place.run(['correct', project, ...ids]));
    await succeed(place.run(['correct', project, ...renaming, ...reason]));
    const counts = ['import', '-', '--project', project, '--format', 'counts', '--source', 'old'];
    const imported = 'date,caller,count\n2024-01-05,web,7\n2024-01-06,bot,5\n';
    await succeed(place.run(counts, { input: imported }));
    const { stdout } = await succeed(place.run(['export', project]));
    expect(stdout).toMatch(/^\{"importedCount":\{"source":"old","caller":"web",.*"count":7,"recordedOn":"/m);
    const ofOthers = await succeed(place.run(['export', project, '--caller', 'api', '--from', '2024-01-01']));
    expect(ofOthers.stdout).not.toContain('importedCount');
    expect(stdout.split('\n').filter((line) => line.startsWith('{"correction":'))).toHaveLength(2);
    const csv = (await succeed(place.run(['export', project, '--format', 'csv']))).stdout;
    expect(csv.split('\r\n')).toHaveLength(4);
    for (const [to, ...strict] of [['plain'], ['checked', '--strict']] as const) {
      await succeed(place.run(['project', 'create', to, '--id', to]));
      const into = ['import', '-', '--project', to, ...strict];
      const first = await succeed(place.run(into, { input: stdout }));
      expect(first.stdout).toBe('6 read, 6 recorded, 0 duplicates\n');
      for (const args of [['export'], ['stats', '--callers'], ['correct', 'list', '--json']]) {
        const [command = '', ...rest] = args;
        const answer = await succeed(place.run([command, to, ...rest]));
        expect(answer).toEqual(await succeed(place.run([command, project, ...rest])));
      }
      expect((await succeed(place.run(into, { input: LINES }))).stdout).toMatch(/0 recorded, 4 duplicates/);
      // A repeat of the correction is known, too.
      const repeated = await succeed(place.run(['correct', to, ...ids]));
      expect(repeated.stdout).toMatch(/^ids withdrew 2 queries/);
    }
    const dryRun = ['import', '-', '--project', project, '--dry-run'];
    expect((await succeed(place.run(dryRun, { input: stdout }))).stdout).toMatch(
      /2024-01 +api +1\n2024-01 +slak +1\n/,
    );
    await succeed(place.run(['project', 'create', 'remote', '--id', 'remote']));
    const { url } = await place.serve();
    const env = { CALLER_STATS_KEY: await makeKey(place, 'admin') };
    const sent = await succeed(
      place.run(['import', '-', '--project', 'remote', '--url', url], { input: stdout, env }),
    );
    expect(sent.stdout).toBe('8 read, 4 recorded, 0 duplicates, 4 skipped\n');
    expect(sent.stderr).toMatch(
      /4 lines skipped: a server takes no corrections, and nothing that was withdrawn/,
    );
  });

  test('in an import are refused if they are not what an export has', async () => {
    const place = await placeWithProject();
    const at = '2024-01-01T00:00:00.000Z';
    const figures = { callers: { web: 1 }, rest: 0, first: 0, last: 0 };
    const correction = { id: 'c', action: 'withdraw', reason: 'x', caller: 'web', createdBy: 'x' };
    const good = { correction: { ...correction, createdAt: at, finishedAt: at, figures } };
    const query = { id: 'a', caller: 'web', occurredAt: at };
    const lines: [line: object, problem: RegExp][] = [
      [{ ...query, withdrawn: true, corrections: [] }, /corrections: is not a list/],
      [{ ...query, corrections: [{ id: 'c' }] }, /corrections: is not a list/],
      [{ ...query, corrections: [{ id: 'c', caller: 'web' }], withdrawn: 1 }, /withdrawn: is not true/],
      [
        { ...query, corrections: [{ id: 'c', caller: 'web' }] },
        /names "c", which no line before it describes/,
      ],
      [{ correction: { ...good.correction, figures: { callers: { web: -1 } } } }, /correction: figures: /],
      [{ correction: { ...good.correction, ids: 2 } }, /correction: ids: is given together with caller/],
      [{ correction: { ...good.correction, idsHash: 'x' } }, /correction: idsHash: /],
      [{ correction: { ...good.correction, finishedAt: 'x', createdBy: '' } }, /finishedAt: .*createdBy: /],
      [{ ...good, id: 'a' }, /correction/],
    ];
    for (const [line, problem] of lines) {
      const input = `${JSON.stringify(line)}\n`;
      const { stderr, stdout } = await place.run(['import', '-', '--project', project], { input });
      expect(stderr, input).toMatch(problem);
      expect(stdout).toMatch(/^1 read, 0 recorded, 0 duplicates, 1 bad/);
    }
    const changed = { ...good.correction, reason: 'another' };
    const input = [good, good, { correction: changed }].map((line) => JSON.stringify(line)).join('\n');
    expect(await place.run(['import', '-', '--project', project], { input })).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/There is another correction with the id c/),
    });
  });
});
