/** What users have of each released version (`scripts/keep-release.ts`) works with this one: backups, spools and clients. */
import { cp, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { ALL_TIME } from '../../../src/domain/counting/date-range.js';
import { recount, recountCallers } from '../../laws/events.js';
import { sharedByTests } from '../../support/cleanup.js';
import { runCommand } from '../../support/cli/cli.js';
import { emptyPlace, makeKey, placeWithProject, project, succeed } from '../../support/cli/cli-place.js';
import { emptyNpmProject } from '../../support/client/npm-project.js';
import { keptLines, keptQueries } from '../../support/kept-queries.js';
import { temporaryFolder } from '../../support/temporary.js';
import { root } from '../../tidy/sources.js';

const folder = join(root, 'test/samples/releases');
const entries = await readdir(folder, { withFileTypes: true });
const versions = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
const all = recount(keptQueries, ALL_TIME);

test('this version is saved', async () => {
  const { version } = JSON.parse(await readFile(join(root, 'clients/javascript/package.json'), 'utf8'));
  expect(versions, 'run npx tsx scripts/keep-release.ts').toContain(version);
});

describe.each(versions)('version %s', (version) => {
  const kept = (name: string): string => join(folder, version, name);

  /** A project of somebody who uses the client of that version. */
  const user = sharedByTests(async () => {
    const { project: cwd, env } = await emptyNpmProject();
    const packed = kept(`caller-stats-client-${version}.tgz`);
    await succeed(runCommand('npm', ['install', packed], { cwd, env }));
    return { client: join(cwd, 'node_modules/caller-stats-client/dist') };
  });

  /** Runs a program with a built client and what it needs of a new server. */
  async function runWith(client: string, code: string) {
    const place = await placeWithProject();
    const server = await place.serve();
    const env = {
      STATS: server.url,
      RECORDING: await makeKey(place, 'recording'),
      READING: await makeKey(place, 'reading'),
    };
    const modules = ['index', 'node', 'spool'].map((name) => JSON.stringify(join(client, `${name}.js`)));
    const [index, node, spool] = modules;
    const program = `
      import { createReader, createRecorder, detectCaller } from ${index};
      import { recordQuestions } from ${node};
      import { openSpool } from ${spool};
      const { STATS: url, RECORDING: key, READING } = process.env;
      const onDrop = (queries, { code, message }) => console.error(code, message, queries.length);
      const reader = createReader({ url, key: READING });
      const options = { url, key, projectId: '${project}', onDrop };
      ${code}`;
    const args = ['--input-type=module', '--eval', program];
    const { stdout } = await succeed(runCommand(process.execPath, args, { env, hangMs: 60_000 }));
    return JSON.parse(stdout) as unknown;
  }

  test('its backup is restored and upgraded', async () => {
    const place = await emptyPlace();
    await writeFile(place.path('kept.db'), gunzipSync(await readFile(kept('backup.db.gz'))));
    await succeed(place.run(['restore', place.path('kept.db')]));
    await succeed(place.run(['migrate']));
    expect((await succeed(place.run(['verify']))).stdout).toMatch(
      new RegExp(`^${keptQueries.length} queries in 1 project: every counter is`),
    );
    const { stdout } = await succeed(place.run(['stats', project, '--json']));
    expect(JSON.parse(stdout)).toEqual(all);
  });

  test('its client records and reads', async () => {
    const { client } = user();
    const lines = JSON.stringify(keptLines);
    const { years, ...read } = (await runWith(
      client,
      `const recorder = createRecorder(options);
       for (const query of ${lines}) recorder.record(query);
       await recorder.close();
       const projectId = options.projectId;
       console.log(JSON.stringify({
         counts: await reader.callerStats({ projectId }),
         callers: await reader.callers({ projectId }),
         years: (await reader.series({ projectId, interval: 'year' })).buckets,
         caller: await reader.callerStats({ projectId, caller: 'git-cli', timeZone: 'Europe/Berlin', to: '2023-01-01' }),
       }));`,
    )) as { years: { start: string; end: string }[] };
    expect(read).toEqual({
      counts: all,
      callers: recountCallers(keptQueries, ALL_TIME),
      caller: recount(
        keptQueries.filter(({ caller }) => caller === 'git-cli'),
        { ...ALL_TIME, to: Date.parse('2023-01-01T00:00:00+01:00') },
      ),
    });
    expect(years.length).toBeGreaterThan(1);
    for (const { start, end, ...counts } of years)
      expect(counts).toEqual(recount(keptQueries, { from: Date.parse(start), to: Date.parse(end) }));
  });

  test('its middleware records', async () => {
    const { client } = user();
    const read = await runWith(
      client,
      `import { createServer } from 'node:http';
       const recorder = createRecorder(options);
       const handler = recordQuestions((request, response) => response.end('an answer'), { recorder });
       const server = createServer(handler).listen(0, '127.0.0.1');
       await new Promise((resolve) => server.once('listening', resolve));
       const ask = { method: 'POST', body: '{"question":"why"}', headers: { 'content-type': 'application/json' } };
       for (let at = 0; at < 3; at++) await (await fetch('http://127.0.0.1:' + server.address().port, ask)).text();
       server.close();
       await recorder.close();
       console.log(JSON.stringify(await reader.callerStats({ projectId: options.projectId })));`,
    );
    expect(read).toMatchObject({ total: 3 });
  });

  const spools = {
    'this client': () => join(root, 'clients/javascript/dist'),
    'its own client': () => user().client,
  };

  test.each(Object.entries(spools))('its spool is sent by %s', async (_, client) => {
    const path = join(await temporaryFolder(), 'queries.spool');
    await cp(kept('queries.spool'), path, { recursive: true });
    const read = await runWith(
      client(),
      `const recorder = createRecorder({ ...options, spool: openSpool(${JSON.stringify(path)}) });
       await recorder.close();
       console.log(JSON.stringify(await reader.callerStats({ projectId: options.projectId })));`,
    );
    expect(read).toEqual(all);
    // The first versions have a file.
    const isFolder = (await stat(path)).isDirectory();
    expect(isFolder ? await readdir(path) : await readFile(path, 'utf8')).toHaveLength(0);
  });
});
